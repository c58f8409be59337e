"""What a rollup must answer, and one folder for each kind of rollup."""
