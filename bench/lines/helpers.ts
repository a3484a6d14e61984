import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Bench, Line } from '../run/line.ts';
import { command } from '../ways/command.ts';
import { makeFolder } from '../workspace.ts';
import { findPython } from './programs.ts';

const stdin = '{"args": {"name": "Ada"}}\n';
const helper = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../authors/${name}`, import.meta.url)), 'utf8');

const scripts = [
  {
    language: 'python',
    program: findPython(),
    extension: 'py',
    helped: `import signalbox

@signalbox.tool
def greet(request):
    return "Hello, %s!" % request["args"]["name"]

greet.run()
`,
    bare: `import json, sys

args = json.load(sys.stdin.buffer)["args"]
json.dump({"result": "Hello, %s!" % args["name"]}, sys.stdout)
`,
  },
  {
    language: 'node',
    program: process.execPath,
    extension: 'mjs',
    helped: `import { tool } from './signalbox.mjs';
await tool(({ args }) => \`Hello, \${args.name}!\`).run(import.meta);
`,
    bare: `import { json } from 'node:stream/consumers';
const { args } = await json(process.stdin);
process.stdout.write(JSON.stringify({ result: \`Hello, \${args.name}!\` }));
`,
  },
  {
    language: 'sh',
    program: 'sh',
    extension: 'sh',
    helped: `. ./signalbox.sh
greet() { text "Hello, $(get .args.name)!"; }
tool greet
`,
    bare: `exec jq -c '{result: "Hello, \\(.args.name)!"}'
`,
  },
] as const;

/** The time that a helper of authors/ adds to a script. */
export const helpers: Bench = {
  name: 'helpers',
  about: 'a script that answers one request by hand, against the same with a helper for authors',
  lines: async () =>
    scripts.map(({ language, program, extension, helped, bare }): Line => {
      const name = `signalbox.${extension}`;
      const cwd = makeFolder({
        [name]: helper(name),
        [`helped.${extension}`]: helped,
        [`bare.${extension}`]: bare,
      }).path;
      return {
        id: `helpers/${language}`,
        title: `a one-shot script in ${language} with its helper`,
        unit: 'ms',
        count: 20,
        warmUp: 3,
        ways: [
          command('by hand', { command: [program, `bare.${extension}`], cwd, stdin }),
          command('helper', { command: [program, `helped.${extension}`], cwd, stdin }),
        ],
      };
    }),
};
