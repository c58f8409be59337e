"""A rollup's builder: executes blocks, keeps their snapshots, makes work packages of them."""
