"""Compares what a request asks for with what the launch declared. Pure; the first difference wins.

It must never consult a table of models: what was declared and what is on the wire are enough.
"""

from stanchion.protocol.exchange import Asked, Mismatch
from stanchion.protocol.launch import LaunchSpec, SideRequest


def side_request(spec: LaunchSpec, body: bytes) -> SideRequest | None:
    """The declared side request whose fingerprint the body carries."""
    return next((side for side in spec.side_requests if side.body_contains.encode() in body), None)


def judge(
    spec: LaunchSpec, asked: Asked, body: bytes, *, exchange: int
) -> tuple[str | None, Mismatch | None]:
    """The declared side request that it is, by name, and the first difference from its terms.

    The agent's own words may carry a fingerprint: a request that keeps the terms of a main one is
    none the less a main one, and so is one that breaks those of both.
    """
    side = side_request(spec, body)
    difference = first_difference(spec, asked, exchange=exchange)
    if side is None:
        return None, difference
    beside = first_difference(spec, asked, exchange=exchange, side=side)
    if beside is None:
        return side.name, None
    return None, None if difference is None else beside


def first_difference(
    spec: LaunchSpec, asked: Asked, *, exchange: int, side: SideRequest | None = None
) -> Mismatch | None:
    """The first difference between the request and its terms; None = it is as declared.

    A main request carries exactly what was declared: limit, effort and thinking budget; a declared
    side request at most its own limit. A limit that is absent from the wire is a difference too.
    """
    if asked.model != spec.model.id:
        return _mismatch(exchange, "model", spec.model.id, asked.model)
    if side is not None:
        if asked.output_limit is None or asked.output_limit > side.max_output_tokens:
            return _mismatch(exchange, "output_limit", side.max_output_tokens, asked.output_limit)
        return None
    limit = spec.limits.output_tokens
    declared: tuple[tuple[str, int | str | None, int | str | None], ...] = (
        ("output_limit", None if limit is None else limit.value, asked.output_limit),
        ("effort", spec.effort.word, asked.effort),
        ("thinking_budget", spec.effort.thinking_budget, asked.thinking_budget),
    )
    return next(
        (
            _mismatch(exchange, field, wanted, seen)
            for field, wanted, seen in declared
            if wanted is not None and seen != wanted
        ),
        None,
    )


def _mismatch(exchange: int, field: str, declared: object, observed: int | str | None) -> Mismatch:
    return Mismatch(
        exchange=exchange,
        field=field,
        declared=str(declared),
        observed=None if observed is None else str(observed),
    )
