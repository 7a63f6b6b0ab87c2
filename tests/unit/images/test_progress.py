from stanchion.images.progress import Piece, Progress, Stage, ignore


def test_a_size_that_nobody_knows_is_none() -> None:
    assert Progress(Piece.BASE, Stage.BUILDING, "message").total_bytes is None


def test_progress_may_be_ignored() -> None:
    ignore(Progress(Piece.BASE, Stage.BUILDING, "message"))
