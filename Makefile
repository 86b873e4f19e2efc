# make test     installs what the tests need where it can, then runs every test
# make soak     runs what is long by nature in full, and says its seed
# make bench    runs the benchmarks
# make picture  draws the pictures in the README and the documentation
# make gallery  draws docs/gallery, the pages of the replicated reviews
# make python   builds the wheel for Python and tests it
# make packages makes the packages and tries them; three optimised builds

.PHONY: test soak bench picture gallery python packages

test:
	@scripts/tools
	@scripts/test

soak:
	@scripts/tools soak
	@scripts/soak

bench:
	cargo bench --workspace

picture:
	@scripts/picture

gallery:
	@scripts/gallery

python:
	@scripts/python

packages:
	@scripts/package all
