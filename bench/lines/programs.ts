import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { buildNative } from '../native/build.ts';
import { makeFolder } from '../workspace.ts';

/** A program that reads a request and replies. */
export interface Program {
  readonly name: string;
  readonly title: string;
  readonly command: readonly [string, ...string[]];
}

const sources = {
  'answer.sh': '#!/bin/sh\nread -r request\nprintf \'{"result": %s}\\n\' "$request"\n',
  'answer.py':
    'import json, sys\nrequest = json.load(sys.stdin)\nprint(json.dumps({"result": request["args"]}))\n',
  'imports.py': `import argparse, collections, dataclasses, datetime, decimal, json, random, re, statistics, sys
request = json.load(sys.stdin)
total = decimal.Decimal(re.sub(r"[^0-9]", "", json.dumps(request["args"])) or "0")
print(json.dumps({"result": str(total)}))
`,
  'answer.mjs': `let text = '';
for await (const chunk of process.stdin) text += chunk;
process.stdout.write(JSON.stringify({ result: JSON.parse(text).args }) + '\\n');
`,
};

/** The programs for one-shot calls. C programs are included only if there is a compiler. */
export function listPrograms(): Program[] {
  const folder = makeFolder(sources).path;
  const native = buildNative();
  const trivial: Program[] =
    native === undefined
      ? []
      : [{ name: 'trivial', title: 'trivial static program', command: [native.trivial] }];
  return [
    ...trivial,
    { name: 'sh', title: 'shell script', command: [join(folder, 'answer.sh')] },
    { name: 'python', title: 'Python script', command: [findPython(), join(folder, 'answer.py')] },
    { name: 'node', title: 'Node script', command: [process.execPath, join(folder, 'answer.mjs')] },
  ];
}

/** A Python script with the imports of a common grader. */
export function pythonWithImports(): Program {
  const script = join(makeFolder(sources).path, 'imports.py');
  return { name: 'imports', title: 'Python script with ten imports', command: [findPython(), script] };
}

/**
 * Returns the Python binary itself, because a version manager's wrapper in PATH may take longer to start than Python.
 */
export function findPython(): string {
  return execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
}
