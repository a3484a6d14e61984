export function schemaOf(name: string, hooks: readonly string[], more: object = {}): string {
  return JSON.stringify({
    name,
    description: `The plugin ${name}.`,
    parameters: { type: 'object' },
    hooks,
    ...more,
  });
}

/** A plugin in bash, as in docs/plugins.md. `body` runs at a hook and for a tool call. */
export function bashPlugin(schema: string, body: string): string {
  return `#!/bin/bash
if [ "$1" = "--schema" ]; then
  cat <<'EOF'
${schema}
EOF
  exit 0
fi
${body}
`;
}

/** The same in sh, which starts faster. */
export function shPlugin(schema: string, body: string): string {
  return bashPlugin(schema, body).replace('#!/bin/bash', '#!/bin/sh');
}

/** A plugin in Python, as in docs/hooks.md. `hook` and `data` are defined. */
export function pythonPlugin(schema: string, body: string): string {
  return `#!/usr/bin/env python3
import json, os, sys

if len(sys.argv) > 1 and sys.argv[1] == "--schema":
    print(r'''${schema}''')
    sys.exit(0)

hook = os.environ.get("CHIBI_HOOK", "")
data = json.load(sys.stdin)
${body}
`;
}

export function nodePlugin(schema: string, body: string): string {
  return `#!/usr/bin/env node
if (process.argv[2] === '--schema') {
  console.log(${JSON.stringify(schema)});
  process.exit(0);
}
const { readFileSync } = require('node:fs');
const hook = process.env.CHIBI_HOOK;
const data = JSON.parse(readFileSync(0, 'utf8'));
${body}
`;
}

/** Logs each of its calls: the point or the tool, a space, and its stdin. */
export function logPlugin(name: string, hooks: readonly string[]): string {
  const line = `printf '%s %s\\n' "\${CHIBI_HOOK:-tool}" "$(cat)" >> "$CHIBI_PROJECT_ROOT/log"\nprintf '{}'`;
  return shPlugin(schemaOf(name, hooks), line);
}

export function inFolder(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`plugins/${name}`, text]));
}

export const importPlugins = 'imports: [{dialect: chibi, plugins_dir: plugins}]';
