from stanchion.broker.plane.connecting import is_link_local


def test_where_clouds_hand_out_credentials_no_provider_lives() -> None:
    assert is_link_local("169.254.169.254")
    assert is_link_local("fe80::1%eth0")
    assert is_link_local("::ffff:169.254.169.254")
    assert is_link_local("2002:a9fe:a9fe::1")
    assert is_link_local("100.100.100.200")
    assert is_link_local("fd00:ec2::254")
    assert not is_link_local("fd00::1")
    assert not is_link_local("127.0.0.1")
    assert not is_link_local("10.0.0.5")
