"""References drawn from the code, for scripts/docs.py: settings, commands, the REST API."""

import ast
import re
import sys
from pathlib import Path
from typing import Any, get_args

import click
import msgspec

FROM_CODE = "<!-- Drawn from the code by `make docs`; edit scripts/references.py instead. -->\n\n"


def configuration() -> str:
    from laneway.kinds.cosmos.section import (
        CosmosAccountSection,
        CosmosNodeSection,
        SequenceSection,
    )
    from laneway.kinds.evm.section import AccountSection, EoaSection, NodeSection
    from laneway.kinds.rollup.section import (
        AuthorizerSection,
        BundleSection,
        RollupNodeSection,
    )
    from laneway.lanes.bundle.settings import BundleSettings
    from laneway.lanes.contract import ContractSettings
    from laneway.lanes.eoa.settings import EoaSettings
    from laneway.lanes.sequence.settings import SequenceSettings
    from laneway.wiring.schema import config_type, tables

    lines = ["# Configuration", "", FROM_CODE.strip(), ""]
    lines += ["One `laneway.toml`, then the environment (`LANEWAY_SECTION__KEY`), then flags."]
    lines += ["`laneway config show --origin` shows each value and where it came from.", ""]
    shared = field_docs(EoaSettings) | field_docs(EoaSection)
    numbered = field_docs(SequenceSettings) | field_docs(SequenceSection)
    bundled = field_docs(BundleSettings) | field_docs(BundleSection)
    behind = {
        "contract": field_docs(ContractSettings),
        "eoa": shared,
        "evm": shared,
        "sequence": numbered,
        "cosmos": numbered,
        "bundle": bundled,
        "rollup": bundled,
    }
    for section in msgspec.structs.fields(config_type()):
        kind, name = section.type, f"[{section.encode_name}]"
        if section.encode_name in tables():
            kind, name = get_args(kind)[0], f"[{name}]"
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            lines += settings_table(name, kind, behind.get(section.encode_name, {}))
        if section.encode_name == "evm":
            lines += settings_table("[[evm.accounts]]", AccountSection, shared)
            lines += settings_table("[[evm.nodes]]", NodeSection, {})
        if section.encode_name == "cosmos":
            lines += settings_table("[[cosmos.accounts]]", CosmosAccountSection, numbered)
            lines += settings_table("[[cosmos.nodes]]", CosmosNodeSection, {})
        if section.encode_name == "rollup":
            lines += settings_table("[[rollup.nodes]]", RollupNodeSection, {})
            lines += settings_table("[rollup.authorizer]", AuthorizerSection, {})
    return "\n".join(lines)


def settings_table(name: str, kind: type[msgspec.Struct], behind: dict[str, str]) -> list[str]:
    lines = [f"## `{name}`", "", "| key | default | meaning |", "|---|---|---|"]
    meanings = behind | field_docs(kind)
    for field in msgspec.structs.fields(kind):
        default = "" if field.default is msgspec.NODEFAULT else repr(field.default)
        if field.default is msgspec.UNSET:
            default = "as for all"
        meaning = meanings.get(field.name, "").replace("\n", " ")
        lines.append(f"| `{field.encode_name}` | `{default}` | {meaning} |")
    return [*lines, ""]


def field_docs(kind: type) -> dict[str, str]:
    """The docstring under each field, as the style guide asks for."""
    module = sys.modules[kind.__module__]
    assert module.__file__ is not None
    docs: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        holder = sys.modules.get(base.__module__)
        if holder is None or not getattr(holder, "__file__", "") or base is msgspec.Struct:
            continue
        if not holder.__name__.startswith("laneway"):
            continue
        assert holder.__file__ is not None
        for node in ast.walk(ast.parse(Path(holder.__file__).read_text())):
            if isinstance(node, ast.ClassDef) and node.name == base.__name__:
                docs |= docs_of(node)
    return docs


def docs_of(node: ast.ClassDef) -> dict[str, str]:
    docs: dict[str, str] = {}
    waiting: list[str] = []
    for item in node.body:
        if isinstance(item, ast.AnnAssign):
            waiting.append(ast.unparse(item.target))
        elif isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) and waiting:
            text = " ".join(str(item.value.value).split())
            docs[waiting[-1]] = text
            waiting = []
    return docs


def cli() -> str:
    from laneway.cli.app import app

    lines = ["# Command line", "", FROM_CODE.strip(), ""]
    describe(app, ["laneway"], lines)
    return "\n".join(lines)


def describe(command: click.Command, path: list[str], lines: list[str]) -> None:
    context = click.Context(command, info_name=" ".join(path))
    lines += [f"## `{' '.join(path)}`", "", "```", command.get_help(context), "```", ""]
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None and not child.hidden:
                describe(child, [*path, name], lines)


def api() -> str:
    """The REST API, from the document that the server itself gives out."""
    from laneway.kinds.site import DOCUMENT

    lines = ["# REST API", "", FROM_CODE.strip(), ""]
    lines += ["The same as `/openapi.json` of a running server (`laneway up`).", ""]
    lines += ["Every error is `application/problem+json` (RFC 9457) with a stable `code`."]
    lines += ["A scope is asked for only while API keys are set.", ""]
    lines += ["| method | path | purpose | scope | answers |", "|---|---|---|---|---|"]
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            scope = operation.get("x-scope", "–")
            answers = ", ".join(operation["responses"])
            words = f"{method.upper()} | `{path}` | {operation['summary']} | {scope} | {answers}"
            lines.append(f"| {words} |")
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            lines += ["", f"## {method.upper()} `{path}`", "", prose(operation["description"]), ""]
            lines += api_operation(operation)
    lines += ["", "## Values", ""]
    for name, schema in DOCUMENT["components"]["schemas"].items():
        lines += ["", f"### `{name}`", "", prose(schema.get("description", "")), ""]
        lines += api_fields(name, schema)
    return "\n".join(collapsed(lines))


def api_operation(operation: dict[str, Any]) -> list[str]:
    lines = []
    if operation["parameters"]:
        lines += ["| parameter | in | type | meaning |", "|---|---|---|---|"]
        for given in operation["parameters"]:
            words = given.get("description", "")
            kind = api_type(given["schema"])
            lines.append(f"| `{given['name']}` | {given['in']} | {kind} | {words} |")
    if "requestBody" in operation:
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        lines += ["", f"Body: {api_type(body)}."]
    good = [
        f"{status} {api_type(next(iter(answer['content'].values()))['schema'])}"
        for status, answer in operation["responses"].items()
        if "application/problem+json" not in answer["content"]
    ]
    return [*lines, "", f"Answers: {', '.join(good)}."]


def api_fields(name: str, schema: dict[str, Any]) -> list[str]:
    meanings = field_docs(api_class(name))
    needed = schema.get("required", [])
    lines = ["| field | type | meaning |", "|---|---|---|"]
    for field, kind in schema.get("properties", {}).items():
        inner = re.sub(r"(?<!^)(?=[A-Z])", "_", field).lower()
        meaning = meanings.get(inner, "")
        must = "" if field in needed else " (optional)"
        lines.append(f"| `{field}` | {api_type(kind)}{must} | {meaning} |")
    return lines


def api_class(name: str) -> type:
    from laneway.kinds.contract import routes
    from laneway.wire import cosmos, evm, problem, rollup, values

    for module in (values, evm, cosmos, rollup, problem, routes):
        if hasattr(module, name):
            found: type = getattr(module, name)
            return found
    raise SystemExit(f"nobody knows the value {name}")


def api_type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "anyOf" in schema:
        return " or ".join(api_type(option) for option in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {api_type(schema.get('items', {}))}"
    if not schema.keys() - {"default"}:
        return "anything"
    return str(schema.get("format") or schema.get("type", "object"))


def prose(text: str) -> str:
    """One sentence a line, as all our prose has it."""
    return re.sub(r"(?<=[a-z)`])\. (?=[A-Z])", ".\n", " ".join(text.split()))


def collapsed(lines: list[str]) -> list[str]:
    """No two empty lines in a row."""
    return [line for place, line in enumerate(lines) if line or place == 0 or lines[place - 1]]
