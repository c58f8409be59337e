"""The OpenAPI 3.1 document, made from the route table and the types of its values."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from laneway.server.route import GoodAnswer, Route
from laneway.wire import problem
from laneway.wire.problem import Problem

REF = "#/components/schemas/{name}"

TEXT = {"type": "string"}
NAME = TEXT | {"minLength": 1}

HEADERS: dict[str, str] = {
    "Idempotency-Key": "The same key and body give the same transaction; a quoted string or bare.",
    "x-idempotency-key": "The same as Idempotency-Key.",
    "Last-Event-ID": "Go on after this event.",
    "Location": "Where the transaction is.",
    "Idempotent-Replayed": "`true` when key and body came before.",
    "Retry-After": "Seconds after which it is worth trying again.",
}

PATHS: dict[str, tuple[str, dict[str, Any]]] = {
    "id": (
        "The transaction's id, `tx_` and 32 digits; of an account's also the hash of an attempt, "
        "64 digits, with `0x` before them or without, or `LANE#NONCE` and `LANE#SEQUENCE`; of a "
        "rollup's its own hash.",
        NAME,
    ),
    "rollup": ("The rollup's name, or the number of its service.", NAME),
    "bundle": ("The block's number, or `B-` and its id.", NAME),
    "hash": ("Of the transaction: 64 digits, with `0x` before them or without.", NAME),
    "account": ("The account's id: 64 digits, with `0x` before them or without.", NAME),
    "webhook": ("The webhook's id.", NAME),
    "delivery": ("The delivery's id, `tx_` and 32 digits.", NAME),
    "lane": (
        "The lane's id, for example `contract:QmToken`; of an account `evm:CHAIN:ACCOUNT` or "
        "`cosmos:CHAIN:ACCOUNT`, each by its name, or by the chain's id and the address; of a "
        "rollup `rollup:NAME`, or `rollup:` and its service.",
        NAME,
    ),
}


def document(routes: Sequence[Route], version: str) -> dict[str, Any]:
    schemas, components = components_of(routes)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "laneway",
            "version": version,
            "description": "Gets every transaction on chain exactly once, in order, even if you "
            "crash.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "`lw_ID_SECRET`. Not needed on loopback while no keys are set.",
                }
            },
        },
    }


def types_of(route: Route) -> list[Any]:
    named = [good.body for good in route.answers.values() if good.body not in (None, str)]
    sent = (route.body, *route.other_bodies, route.query)
    return named + [kind for kind in sent if kind is not None]


def components_of(routes: Sequence[Route]) -> tuple[dict[Any, Any], dict[str, Any]]:
    kinds: list[Any] = [Problem]
    for route in routes:
        kinds += [kind for kind in types_of(route) if kind not in kinds]
    found, components = msgspec.json.schema_components(kinds, ref_template=REF)
    schemas = dict(zip(map(repr, kinds), found, strict=True))
    queries = {route.query.__name__ for route in routes if route.query is not None}
    inlined = {name: body for name, body in components.items() if name in queries}
    for route in routes:
        if route.query is not None:
            schemas[repr(route.query)] = inlined[route.query.__name__]
    kept = {name: body for name, body in components.items() if name not in queries}
    return schemas, dict(sorted(kept.items()))


def operation(route: Route, schemas: dict[Any, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": route.name(),
        "summary": route.summary,
        "description": route.act.__doc__ or "",
        "parameters": parameters(route, schemas),
        "responses": responses(route, schemas),
        "security": [{"key": []}, {}] if route.scope is not None else [],
    }
    if route.scope is not None:
        made["x-scope"] = route.scope
    if route.body is not None:
        schema = schemas[repr(route.body)]
        if route.other_bodies:
            others = [schemas[repr(other)] for other in route.other_bodies]
            schema = {"anyOf": [schema, *others]}
        content = {"application/json": {"schema": schema}}
        made["requestBody"] = {"required": True, "content": content}
    return made


def parameters(route: Route, schemas: dict[Any, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name in re.findall(r"{(\w+)}", route.path):
        what, schema = PATHS.get(name, (f"The {name}.", NAME))
        found.append(
            {"name": name, "in": "path", "required": True, "description": what, "schema": schema}
        )
    if route.query is not None:
        for name, schema in schemas[repr(route.query)]["properties"].items():
            schema = dict(schema)
            purpose = schema.pop("description", "")
            found.append({"name": name, "in": "query", "description": purpose, "schema": schema})
    for name in route.headers:
        schema = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!#-~]+$"}
        if name == "Last-Event-ID":
            schema = {"type": "string", "maxLength": 18, "pattern": "^[0-9]*$"}
        described = {"name": name, "in": "header", "description": HEADERS[name]}
        found.append(described | {"schema": schema})
    return found


def responses(route: Route, schemas: dict[Any, Any]) -> dict[str, Any]:
    made = {str(status): answer(good, schemas) for status, good in route.answers.items()}
    for status in problems_of(route):
        if str(status) not in made:
            made[str(status)] = refusal(status, schemas)
    return dict(sorted(made.items()))


def problems_of(route: Route) -> list[int]:
    """The statuses of refusals that any request, or this one, can get."""
    # 400 is bad HTTP, 403 a foreign Host, 405 another method, 431 large headers.
    found = [400, 403, 405, 500, 503, *route.problems]
    if route.scope is not None:
        found += [401, 429]  # 429 only for a key that has a quota.
    if "{" in route.path:
        found.append(404)
    if route.query is not None or route.body is not None or route.headers:
        found.append(422)
    if route.body is not None:
        found += [408, 413, 415]
    return sorted(found)


def answer(good: GoodAnswer, schemas: dict[Any, Any]) -> dict[str, Any]:
    schema = TEXT if good.body is str else schemas[repr(good.body)]
    made: dict[str, Any] = {
        "description": good.what,
        "content": {good.content_type: {"schema": schema}},
    }
    if good.headers:
        made["headers"] = {
            name: {"description": HEADERS[name], "schema": TEXT} for name in good.headers
        }
    return made


def refusal(status: int, schemas: dict[Any, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "description": HTTPStatus(status).phrase,
        "content": {problem.CONTENT_TYPE: {"schema": schemas[repr(Problem)]}},
    }
    if status in (429, 503):
        made["headers"] = {"Retry-After": {"description": HEADERS["Retry-After"], "schema": TEXT}}
    return made
