from pathlib import Path

from stanchion.supervisor.reward import MOST_REWARD_BYTES, RewardFile, read_reward_file


def test_no_file_is_nothing(tmp_path: Path) -> None:
    assert read_reward_file(tmp_path) == RewardFile()
    assert read_reward_file(tmp_path / "nowhere") == RewardFile()


def test_the_json_file_goes_first(tmp_path: Path) -> None:
    (tmp_path / "reward.txt").write_text("1")
    assert read_reward_file(tmp_path) == RewardFile("reward.txt", "1")
    (tmp_path / "reward.json").write_text("{}")
    assert read_reward_file(tmp_path) == RewardFile("reward.json", "{}")


def test_what_may_not_be_read_is_named_and_nothing_stands_in_for_it(tmp_path: Path) -> None:
    (tmp_path / "reward.txt").write_text("1")
    (tmp_path / "reward.json").symlink_to("reward.txt")
    found = read_reward_file(tmp_path)
    assert (found.name, found.text) == ("reward.json", None)
    assert "reward.json" in str(found.error)


def test_a_large_file_is_no_reward(tmp_path: Path) -> None:
    (tmp_path / "reward.txt").write_bytes(b"1" * (MOST_REWARD_BYTES + 1))
    assert "larger" in str(read_reward_file(tmp_path).error)


def test_bytes_that_are_no_text_stay_visible(tmp_path: Path) -> None:
    (tmp_path / "reward.txt").write_bytes(b"\xff1")
    assert read_reward_file(tmp_path).text == "\N{REPLACEMENT CHARACTER}1"
