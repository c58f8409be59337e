"""The OpenAPI document as one HTML page: no script, nothing from elsewhere, made once."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from laneway.server.answers import SERVER

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
    "Server": SERVER,
}

STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font:13px/1.45 ui-monospace,monospace}
pre{overflow:auto;padding:.6rem;background:#8881;border-radius:4px}
summary{cursor:pointer;padding:.35rem 0}
summary b{display:inline-block;width:3.6rem}
details{border-bottom:1px solid #8883}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0}
"""


def page(document: Mapping[str, Any]) -> bytes:
    info = document["info"]
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>",
        "<meta name=viewport content='width=device-width,initial-scale=1'>",
        f"<title>{escape(info['title'])} API</title><style>{STYLE}</style>",
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
        f"<p>{escape(info['description'])}</p>",
        "<p>For programs: <a href=/openapi.json>openapi.json</a></p><h2>Requests</h2>",
    ]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            parts += operation_parts(path, method, operation)
    parts.append("<h2>Values</h2>")
    for name, schema in document["components"]["schemas"].items():
        purpose = escape(schema.get("description", ""))
        parts.append(
            f"<details id={name}><summary><code>{name}</code> {purpose}</summary>"
            f"<pre>{escape(json.dumps(schema, indent=2))}</pre></details>"
        )
    return "".join([*parts, "</html>"]).encode()


def operation_parts(path: str, method: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"<details id={operation['operationId']}><summary><b>{method.upper()}</b>"
        f"<code>{escape(path)}</code> {escape(operation['summary'])}</summary>"
        f"<p>{escape(operation['description'])}</p>"
    )
    if "x-scope" in operation:
        yield f"<p>Scope: <code>{operation['x-scope']}</code></p>"
    if operation["parameters"]:
        yield "<table>"
        for parameter in operation["parameters"]:
            kind = escape(json.dumps(parameter["schema"]))
            yield (
                f"<tr><td><code>{parameter['name']}</code><td>{parameter['in']}"
                f"<td>{escape(parameter['description'])}<td><code>{kind}</code>"
            )
        yield "</table>"
    if "requestBody" in operation:
        yield f"<p>Body: {types(operation['requestBody']['content'])}</p>"
    yield "<table>"
    for status, answer in operation["responses"].items():
        purpose = escape(answer["description"])
        yield f"<tr><td>{status}<td>{purpose}<td>{types(answer['content'])}"
    yield "</table></details>"


def types(content: Mapping[str, Any]) -> str:
    """The types of a body, each with a link to its description."""
    found = []
    for kind, value in content.items():
        name = value["schema"].get("$ref", "").rpartition("/")[2]
        link = f"<a href=#{name}><code>{name}</code></a> " if name else ""
        found.append(f"{link}<code>{kind}</code>")
    return ", ".join(found)
