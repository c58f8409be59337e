"""Calls and deployments in words → calldata, and the signatures that show them in words later."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from laneway.core.errors import BadRequest
from laneway.evm.abi.addresses import read_bytes
from laneway.evm.abi.coding import encode
from laneway.evm.abi.decoded import SELECTOR_BYTES
from laneway.evm.abi.interface import Items, called, constructor, kept, read_abi, read_json
from laneway.evm.abi.items import CONSTRUCTOR, FUNCTION, AbiItem
from laneway.evm.abi.limits import JSON_CHARS_MAX
from laneway.evm.abi.values import values_of

PLACEHOLDER = "__"
"""Begins and ends what compilers write where the address of a library belongs."""


class CallInWords(Struct, frozen=True, kw_only=True):
    """A call or a deployment as its caller has it. Nothing of it is trusted yet."""

    creates: bool
    """Whether it names nobody to send to, so that it creates a contract."""
    data: str | bytes | None = None
    """Calldata, or a constructor's arguments, that the caller encoded."""
    call: object = None
    args: object = None
    abi: object = None
    deploy: object = None


class EncodedCall(Struct, frozen=True):
    """Its bytes, and what shows them in words later."""

    data: bytes
    """Calldata, or the arguments of a constructor."""
    kept: tuple[str, ...] = ()
    """Signatures, the one of what is called first."""
    code: bytes = b""
    """Of a deployment: what `data` follows."""


class CreationCode(Struct, frozen=True):
    """The code that makes a contract, and its ABI where a compiler's artifact has both."""

    code: bytes
    abi: object = None


def encoded_words(asked: CallInWords) -> EncodedCall:
    """BadRequest names what is wrong with it."""
    if asked.deploy is not None:
        return deployment(asked)
    if asked.call is None:
        if asked.args is not None:
            raise BadRequest("call", "say which function these are the arguments of")
        data = read_bytes(asked.data or b"", "data")
        return EncodedCall(data, kept_of(data, asked.abi, creates=asked.creates))
    if asked.creates:
        raise BadRequest("to", "a call is sent to a contract: say which; `deploy` creates one")
    check_alone(asked)
    return encoded_call(asked.call, asked.args, asked.abi)


def check_alone(asked: CallInWords) -> None:
    if read_bytes(asked.data or b"", "data"):
        raise BadRequest("data", "either this, or a call in words")


def encoded_call(call: object, args: object = None, abi: object = None) -> EncodedCall:
    """A call of the function that `call` names: a signature, or a name in `abi`."""
    items = None if abi is None else read_abi(abi)
    meant = called(checked_call(call), items)
    return EncodedCall(meant.selector() + arguments(meant, args), kept(meant, items))


def deployment(asked: CallInWords) -> EncodedCall:
    """A contract's code with its constructor's arguments."""
    if not asked.creates:
        raise BadRequest("to", "a deployment has none: the contract gets an address of its own")
    made = creation_code(asked.deploy)
    abi = made.abi if asked.abi is None else asked.abi
    data = read_bytes(asked.data or b"", "data")
    if data and asked.call is None and asked.args is None:
        return EncodedCall(data, kept_of(data, abi, creates=True), made.code)
    check_alone(asked)
    items = None if abi is None else read_abi(abi)
    is_known = asked.call is not None or items is not None
    if asked.args and not is_known:
        problem = "say the constructor's types: constructor(address,uint256) or so, or its ABI"
        raise BadRequest("call", problem)
    meant = constructor(None if asked.call is None else checked_call(asked.call), items)
    found = kept(meant if is_known else None, items)
    return EncodedCall(arguments(meant, asked.args), found, made.code)


def kept_of(data: bytes, abi: object, *, creates: bool) -> tuple[str, ...]:
    """What is kept of an ABI beside bytes that the caller encoded."""
    if abi is None:
        return ()
    items = read_abi(abi)
    return kept(meant_by(items, data, creates=creates), items)


def meant_by(items: Items, data: bytes, *, creates: bool) -> AbiItem | None:
    if creates:
        return next((item for item in items if item.kind == CONSTRUCTOR), None)
    functions = (item for item in items if item.kind == FUNCTION)
    return next((item for item in functions if item.selector() == data[:SELECTOR_BYTES]), None)


def checked_call(call: object) -> str:
    if not isinstance(call, str) or not call.strip():
        raise BadRequest("call", "a signature like transfer(address,uint256), as text")
    return call


def arguments(meant: AbiItem, args: object) -> bytes:
    if args is None:
        args = ()
    if not isinstance(args, Sequence) or isinstance(args, str | bytes):
        raise BadRequest("args", "a list of arguments, in their order")
    return encode(meant.inputs, values_of(meant.signature(), meant.inputs, args))


def creation_code(source: object) -> CreationCode:
    """The code in hexadecimal, with 0x or without, or in the artifact of a compiler (`bytecode`,
    its `object`, or `bin`)."""
    if isinstance(source, bytes):
        return CreationCode(checked_code(source))
    artifact: object = source
    if isinstance(source, str):
        text = source.strip()
        if len(text) > JSON_CHARS_MAX:
            raise BadRequest("deploy", f"it has more than {JSON_CHARS_MAX} characters")
        if not text.startswith("{"):
            return CreationCode(read_code(text))
        artifact = read_json(text, "deploy")
    if not isinstance(artifact, Mapping):
        raise BadRequest("deploy", "the contract's code as 0x and digits, or an artifact with it")
    code = code_in(artifact)
    if not isinstance(code, str):
        raise BadRequest("deploy", "the artifact has no `bytecode`")
    return CreationCode(read_code(code.strip()), artifact.get("abi"))


def code_in(artifact: Mapping[str, object]) -> object:
    """As Hardhat, Foundry and solc write it."""
    evm = artifact.get("evm")
    if isinstance(evm, Mapping):
        artifact = evm
    code = artifact.get("bytecode", artifact.get("bin"))
    return code.get("object") if isinstance(code, Mapping) else code


def read_code(digits: str) -> bytes:
    if PLACEHOLDER in digits:
        raise BadRequest("deploy", "it must be linked first: addresses of libraries are missing")
    return checked_code(read_bytes(f"0x{digits.removeprefix('0x')}", "deploy"))


def checked_code(code: bytes) -> bytes:
    if not code:
        raise BadRequest("deploy", "there is no code in it: an interface or abstract contract")
    return bytes(code)
