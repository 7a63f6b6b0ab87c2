from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fakes.certificates import make_certificate
from stanchion.broker.config import BrokerTable
from stanchion.broker.egress import Egress, version_of
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import RefusedError


def egress(folder: Path, **table: str) -> Egress:
    return Egress.of(BrokerTable(**table), folder=folder)


def test_a_private_authority_is_trusted_beside_the_systems(tmp_path: Path) -> None:
    make_certificate(tmp_path)
    before = len(egress(tmp_path).tls.get_ca_certs())
    context = egress(tmp_path, ca_bundle="cert.pem").tls
    assert len(context.get_ca_certs()) == before + 1
    assert context.check_hostname


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_a_bundle_without_certificates_is_refused(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "ca.pem").write_text(content)
    with pytest.raises(RefusedError, match=r"ca\.pem") as refused:
        egress(tmp_path, ca_bundle="ca.pem")
    assert refused.value.refusal.id == "ca_bundle_unusable"


@pytest.mark.parametrize(
    ("api", "url", "path", "header"),
    [
        (Dialect.OPENAI_CHAT, "https://h/v1/", "/v1", "authorization"),
        (Dialect.ANTHROPIC_MESSAGES, "https://h", "", "x-api-key"),
        (Dialect.ANTHROPIC_MESSAGES, "https://h/gate/v1", "/gate", "x-api-key"),
        (Dialect.GEMINI, "https://h/v1beta", "", "x-goog-api-key"),
        (Dialect.GEMINI, "https://h/v1", "", "x-goog-api-key"),
        (Dialect.GEMINI, "https://h/gate/", "/gate", "x-goog-api-key"),
    ],
)
def test_a_target_fits_its_api(
    tmp_path: Path, api: Dialect, url: str, path: str, header: str
) -> None:
    target = egress(tmp_path).target(urlsplit(url), None, api)
    assert (target.path, target.key_header[0], target.port) == (path, header, 443)
    assert target.tls is not None


def test_each_api_has_its_version() -> None:
    assert {api: version_of(api) for api in Dialect} == {
        **dict.fromkeys(Dialect, "/v1"),
        Dialect.GEMINI: "/v1beta",
    }


def test_the_proxy_is_for_https_only(tmp_path: Path) -> None:
    way = egress(tmp_path, egress_proxy="http://proxy.example.com:3128")
    secure = way.target(urlsplit("https://h/v1"), None, Dialect.OPENAI_CHAT)
    plain = way.target(urlsplit("http://127.0.0.1:8000/v1"), None, Dialect.OPENAI_CHAT)
    assert secure.proxy == ("proxy.example.com", 3128)
    assert (plain.proxy, plain.tls, plain.port) == (None, None, 8000)
