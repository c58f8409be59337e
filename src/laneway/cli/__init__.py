"""The command line: parse, call, print. Every command is imported only when it is called."""


def main() -> None:
    from laneway.cli.app import run

    raise SystemExit(run())
