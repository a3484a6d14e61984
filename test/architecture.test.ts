import { expect, test } from 'vitest';
import * as house from './architecture.ts';
import { parseModule, readModules } from './source.ts';

const src = readModules(new URL('../src', import.meta.url).pathname);

const rules = [
  {
    title: 'every file belongs to a stratum',
    rule: house.everyFileHasAStratum,
    broken: { 'helpers/strings.ts': '' },
    says: ['helpers/strings.ts belongs to no stratum; add it to the list in test/architecture.ts'],
  },
  {
    title: 'no import points down',
    rule: house.importsPointUp,
    broken: {
      'json/json.ts': "import '../errors.ts';",
      'contract/tool.ts':
        "import type { Fault } from '../errors.ts';\nimport type { X } from '../config/config.ts';",
      'suite/suite.ts': "export * from '../runtime/api.ts';",
      'transport/launch/fifo.ts': "const p = await import('../../hooks/gate.ts');",
    },
    says: [
      'contract/tool.ts imports config/config.ts, which is below it',
      'suite/suite.ts imports runtime/api.ts, which is below it',
      'transport/launch/fifo.ts imports hooks/gate.ts, which is below it',
    ],
  },
  {
    title: 'no dialect imports another',
    rule: house.dialectsAreStrangers,
    broken: {
      'dialects/chibi/hook.ts': "import '../dialect.ts';\nimport '../promptkit/hook.ts';",
      'dialects/registry.ts': "import './chibi/hook.ts';",
    },
    says: [
      'dialects/chibi/hook.ts imports dialects/promptkit/hook.ts; the folders of dialects/ do not know each other',
    ],
  },
  {
    title: 'nothing but its folder and the registry names a dialect',
    rule: house.onlyItsFolderNamesADialect,
    broken: {
      'dialects/chibi/config/dialect.ts': "export const chibi = { name: 'chibi' };",
      'dialects/chibi/tool.ts': '// As chibi has it.',
      'dialects/registry.ts': "import { chibi } from './chibi/config/dialect.ts';",
      'dialects/body.ts': '// Chibi prints this.',
      'runtime/wiring.ts': "if (dialect === 'chibi') start();",
      'surface/cli/commands/hook.ts': "choices(['chibi']);",
    },
    says: [
      'dialects/body.ts names the dialect chibi; ask dialects/registry.ts',
      'runtime/wiring.ts names the dialect chibi; ask dialects/registry.ts',
    ],
  },
  {
    title: 'no surface imports another',
    rule: house.surfacesAreStrangers,
    broken: { 'surface/cli/commands/serve.ts': "import '../output.ts';\nimport '../../http/app.ts';" },
    says: [
      'surface/cli/commands/serve.ts imports surface/http/app.ts; the folders of surface/ do not know each other',
    ],
  },
  {
    title: 'surfaces see the runtime, the contract, the errors, JSON and themselves',
    rule: house.surfacesSeeTheRuntimeOnly,
    broken: {
      'surface/cli/main.ts': [
        "import '../../runtime/runtime.ts'; import '../../errors.ts'; import '../../json/json.ts'; import 'commander';",
        "import '../../contract/tool.ts'; import './commands/tool.ts'; import '../../config/load.ts';",
      ].join('\n'),
    },
    says: [
      'surface/cli/main.ts imports config/load.ts; a surface sees runtime/, contract/, json/, text/, files/ and errors.ts',
    ],
  },
  {
    title: 'only transport/launch/ starts processes',
    rule: house.onlyLaunchStartsProcesses,
    broken: {
      'transport/launch/spawn.ts': "import { execa } from 'execa'; import koffi from 'koffi';",
      'transport/oneshot.ts': "import { execa } from 'execa';",
      'runtime/wiring.ts': "import { spawn } from 'node:child_process';",
      'surface/cli/main.ts': "const koffi = require('koffi');",
    },
    says: [
      'transport/oneshot.ts imports execa; processes start in transport/launch/ only',
      'runtime/wiring.ts imports node:child_process; processes start in transport/launch/ only',
      'surface/cli/main.ts imports koffi; processes start in transport/launch/ only',
    ],
  },
  {
    title: 'only binding/env.ts and the programs read process.env',
    rule: house.environmentIsReadOnce,
    broken: {
      'binding/env.ts': 'const path = process.env.PATH;',
      'surface/cli/main.ts': 'const path = process.env.PATH;',
      'binding/resolve.ts': 'const path = process.env.PATH;',
      'surface/cli/terminal.ts': 'const path = process.env.NO_COLOR;',
      'transport/oneshot.ts': '// process.env is not read here',
    },
    says: [
      'binding/resolve.ts reads process.env; only binding/env.ts and the programs do',
      'surface/cli/terminal.ts reads process.env; only binding/env.ts and the programs do',
    ],
  },
  {
    title: 'the programs are functions of what a process has',
    rule: house.programsAreFunctions,
    broken: {
      'surface/cli/process/run.ts': 'process.exitCode = 1;',
      'surface/pii/main.ts': 'process.exitCode = 1;',
      'surface/cli/columns.ts': 'const { columns } = process.stdout;',
      'surface/cli/locate.ts': "import { cwd } from 'node:process';",
      'surface/pii/serve.ts': 'const { stdin } = process;',
      'transport/groups.ts': 'process.kill(1);',
    },
    says: [
      'surface/cli/columns.ts uses process; what it needs of it is a parameter of main()',
      'surface/cli/locate.ts uses process; what it needs of it is a parameter of main()',
      'surface/pii/serve.ts uses process; what it needs of it is a parameter of main()',
    ],
  },
  {
    title: 'only surfaces print',
    rule: house.onlySurfacesPrint,
    broken: { 'surface/cli/main.ts': "console.log('a');", 'capability/hook.ts': "console.error('a');" },
    says: ['capability/hook.ts uses console; emit an event instead'],
  },
  {
    title: 'nothing in src imports index.ts',
    rule: house.nothingImportsTheIndex,
    broken: { 'surface/cli/main.ts': "import '../../index.ts';", 'config/load.ts': "import './index.ts';" },
    says: ['surface/cli/main.ts imports index.ts, which is for users of the library'],
  },
  {
    title: 'no imports form a cycle',
    rule: house.importsFormNoCycle,
    broken: {
      'config/a.ts': "import './b.ts'; import '../errors.ts';",
      'config/b.ts': "import type { C } from './c.ts';",
      'config/c.ts': "export * from './a.ts';",
      'config/d.ts': "import './a.ts';",
    },
    says: ['import cycle: config/a.ts -> config/b.ts -> config/c.ts -> config/a.ts'],
  },
  {
    title: 'the oldest Node that the package allows suffices',
    rule: house.oldestNodeSuffices,
    broken: {
      'runtime/wiring.ts': 'const opened = new AsyncDisposableStack();\n',
      'json/json.ts': 'text.trim();\n',
    },
    says: ['runtime/wiring.ts uses AsyncDisposableStack, which Node 22.18 does not have'],
  },
];

test('the sources of this house are read', () => {
  expect(src.map(({ file }) => file)).toEqual(expect.arrayContaining(['errors.ts', 'contract/tool.ts']));
});

test.each(rules)('$title', ({ rule }) => {
  expect(rule(src)).toEqual([]);
});

test.each(rules)('a breach is caught: $title', ({ rule, broken, says }) => {
  expect(rule(Object.entries(broken).map(([file, text]) => parseModule(file, text)))).toEqual(says);
});
