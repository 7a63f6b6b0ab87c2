from stanchion.protocol.credentials import proof_of


def test_a_proof_depends_on_value_and_salt_and_shows_neither() -> None:
    proof = proof_of("ab" * 16, "sk-CANARY")
    assert proof == proof_of("ab" * 16, "sk-CANARY")
    assert len({proof, proof_of("cd" * 16, "sk-CANARY"), proof_of("ab" * 16, "sk-other")}) == 3
    assert "CANARY" not in proof
