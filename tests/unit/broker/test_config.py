import hashlib

import pytest

from stanchion.broker.config import REHEARSAL, built_in, read_config, split_base_url
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Policy
from stanchion.protocol.refusal import RefusedError

WHOLE = """
version = 1
[broker]
max_runs = 5
[profiles.evals]
policy = "observe"
limit_policy = "explicit"
effort_policy = "explicit"
harnesses = { opencode = "1.18.33" }
isolation = "M2"
capture = "digest"
allow_fields = ["web_search", "store"]
budget = { output_tokens = 5_000_000, requests = 2_000 }
watchdog = { failing_s = 60, silent_s = 120, max_wait_s = 30 }
[profiles.evals.accounts.vllm]
api = "openai_chat"
base_url = "http://10.0.0.5:8000/v1"
credential = "none"
allow_plain_http = true
[profiles.evals.models."vllm/Qwen/Qwen3-Coder-30B"]
context = 65536
output_limit = 32768
[profiles.evals.prices]
"vllm/x" = { input = "3.00", output = "15.00" }
"""
ACCOUNT = """
version = 1
[profiles.p.accounts.a]
api = "openai_chat"
credential = "none"
base_url = "https://api.example.com/v1"
"""


def test_without_a_file_there_is_only_the_rehearsal() -> None:
    config = built_in()
    assert list(config.profiles) == [REHEARSAL]
    assert config.sha256 is None


def test_a_whole_file_is_read() -> None:
    config = read_config(WHOLE.encode())
    view = config.profiles["evals"].view("evals")
    assert config.broker.max_runs == 5
    assert config.sha256 == hashlib.sha256(WHOLE.encode()).hexdigest()
    assert set(config.profiles) == {"evals", REHEARSAL}
    assert view.accounts == {"vllm": Dialect.OPENAI_CHAT}
    assert (view.policy, view.limit_policy) == (Policy.OBSERVE, "explicit")
    assert view.models["vllm/Qwen/Qwen3-Coder-30B"].output_limit == 32768
    assert (view.budget_requests, view.silent_s, view.max_wait_s) == (2000, 120, 30)
    assert view.allow_fields == ("store", "web_search")
    assert "10.0.0.5" not in str(view)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version = 1\nx = ", "TOML"),
        ("", "version"),
        ("version = 2", "version"),
        ("version = 1\nbrokr = 1", "brokr"),
        ("version = 1\n[broker]\nmax_runs = 0", "broker.max_runs"),
        (ACCOUNT + 'max_in_flight = "40"', "profiles.p.accounts.a.max_in_flight"),
        (ACCOUNT + "sekret = 1", "sekret"),
        (ACCOUNT.replace("openai_chat", "openai"), "profiles.p.accounts.a.api"),
        (ACCOUNT.replace("accounts.a", "accounts.A"), "profiles.p.accounts.A"),
        (ACCOUNT.replace("profiles.p", "profiles.rehearsal"), "profiles.rehearsal"),
        (ACCOUNT.replace("profiles.p", 'profiles."a b"'), "profiles.a b"),
        (ACCOUNT + "[profiles.p.prices]\nm = { input = 3, output = '1' }", "prices.m.input"),
        (ACCOUNT + "[profiles.p]\nmodels = 3", "models"),
        *(
            (f'{ACCOUNT}[profiles.p.models."a/m"]\n{key} = {number}', f"models.a/m.{key}")
            for key in ("output_limit", "context")
            for number in ('"128k"', "-1", "0", "1.5", "true", '"128000"')
        ),
        ("version = 1\n[profiles.p]\naccounts = 3", "profiles.p.accounts"),
        (ACCOUNT.replace("https", "http"), "allow_plain_http"),
        (ACCOUNT.replace("https", "ftp"), "base_url"),
        (ACCOUNT.replace("api.example", "user:pw@api.example"), "base_url"),
        (ACCOUNT.replace("/v1", "/v1?key=1"), "base_url"),
        (ACCOUNT.replace("/v1", "/v1#x"), "base_url"),
        (ACCOUNT.replace("/v1", "/../v1%2f"), "base_url"),
        (ACCOUNT.replace(".com", ".com:99999"), "base_url"),
        (ACCOUNT.replace(".com", ".com:0"), "base_url"),
        (ACCOUNT.replace("https://api.example.com", "https://"), "base_url"),
        (ACCOUNT.replace("api.example", "@api.example"), "base_url"),
        (ACCOUNT.replace(".com", ".com:"), "base_url"),
        (ACCOUNT.replace("/v1", "/v1?"), "base_url"),
        (ACCOUNT.replace("api.", "api\\t."), "base_url"),
        ('version = 1\n[broker]\negress_proxy = "http://proxy"', "HOST:PORT"),
        ('version = 1\n[broker]\negress_proxy = "https://proxy:1"', "egress_proxy"),
        ('version = 1\n[broker]\negress_proxy = "http://proxy:1/x"', "without a path"),
        ('version = 1\n[broker]\negress_proxy = "http://p:99999"', "egress_proxy"),
    ],
)
def test_a_mistake_is_named_by_its_key(text: str, words: str) -> None:
    with pytest.raises(RefusedError) as refused:
        read_config(text.encode())
    assert words in str(refused.value)


def test_text_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(RefusedError, match="UTF-8"):
        read_config(b"\xff")


@pytest.mark.parametrize("rest", ["h/", "h:99999/", "b_d/", "[h/"])
def test_a_password_in_an_address_is_not_shown(rest: str) -> None:
    with pytest.raises(RefusedError) as refused:
        split_base_url(f"https://u:hunter2@{rest}", field="f", allow_plain_http=False)
    assert "hunter2" not in str(refused.value)


def test_a_password_of_a_proxy_is_not_shown() -> None:
    with pytest.raises(RefusedError) as refused:
        read_config(b'version = 1\n[broker]\negress_proxy = "http://u:hunter2@proxy:1"')
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.9.9.9"])
def test_plain_http_to_this_machine_needs_no_permission(host: str) -> None:
    text = ACCOUNT.replace("https://api.example.com", f"http://{host}:8000")
    assert read_config(text.encode()).profiles["p"].accounts["a"].allow_plain_http is False


@pytest.mark.parametrize("host", ["10.0.0.5", "localhost.example.com", "0.0.0.0"])
def test_plain_http_elsewhere_does(host: str) -> None:
    text = ACCOUNT.replace("https://api.example.com", f"http://{host}:8000")
    with pytest.raises(RefusedError) as refused:
        read_config(text.encode())
    assert refused.value.refusal.id == "plain_http"


def test_plain_http_does_not_pass_a_proxy() -> None:
    text = ACCOUNT.replace("https://api.example.com", "http://10.0.0.5:8000")
    text = text.replace("version = 1", 'version = 1\n[broker]\negress_proxy = "http://proxy:3128"')
    allowed = text + "allow_plain_http = true\n"
    with pytest.raises(RefusedError) as refused:
        read_config(allowed.encode())
    assert refused.value.refusal.id == "proxy_plain_http"
    read_config(allowed.replace("10.0.0.5", "127.0.0.1").encode())
