export PATH := justfile_directory() / "node_modules/.bin" + ":" + env("PATH")

# what can be done here
default:
    @just --list

# types, lint, import rules, registries
check:
    npm run -s check

# all tests
test *ARGS:
    npm test -- {{ARGS}}

# the lab and the story
start *ARGS:
    npm start -- {{ARGS}}

# write the registries of BMC types and payload renderers
gen:
    node infra/tools/gen.mjs

# join infra/classes/*.json to one classes.json
classes OUT:
    node infra/tools/classes.mjs {{OUT}}

# format and fix what can be fixed
fix:
    biome check --write .
