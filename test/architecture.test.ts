import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as house from './architecture.ts';
import { parseModule, readModules } from './source.ts';

const src = readModules(new URL('../src', import.meta.url).pathname);

const rules = [
  {
    title: 'every file belongs to a folder',
    rule: house.everyFileHasAFolder,
    broken: { 'helpers/strings.ts': '' },
    says: ['helpers/strings.ts belongs to no folder of the list in test/architecture.ts'],
  },
  {
    title: 'no import points down',
    rule: house.importsPointUp,
    broken: {
      'base/json/json.ts': "import '../errors.ts';",
      'contract/tool.ts':
        "import type { Fault } from '../base/errors.ts';\nimport type { X } from '../config/config.ts';",
      'suites/suite.ts': "export * from '../runtime/api.ts';",
      'process/launch/fifo.ts': "const p = await import('../../calls/hooks/gate.ts');",
    },
    says: [
      'contract/tool.ts imports config/config.ts, which is below it',
      'suites/suite.ts imports runtime/api.ts, which is below it',
      'process/launch/fifo.ts imports calls/hooks/gate.ts, which is below it',
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
    title: 'no importer of suites imports another',
    rule: house.importedFormatsAreStrangers,
    broken: {
      'suites/import/arena/import-arena.ts':
        "import '../suite/suite.ts'; import '../promptfoo/cases.ts'; import '../import-suite.ts';",
      'suites/import/suite/suite.ts': "import '../samples/sample.ts';",
    },
    says: [
      'suites/import/arena/import-arena.ts imports suites/import/promptfoo/cases.ts; the folders of suites/import/ do not know each other',
      'suites/import/suite/suite.ts imports suites/import/samples/sample.ts; the folders of suites/import/ do not know each other',
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
      'cli/commands/hook.ts': "choices(['chibi']);",
    },
    says: [
      'dialects/body.ts names the dialect chibi; ask dialects/registry.ts',
      'runtime/wiring.ts names the dialect chibi; ask dialects/registry.ts',
    ],
  },
  {
    title: 'no program imports another',
    rule: house.programsAreSeparate,
    broken: { 'cli/commands/serve.ts': "import '../output.ts';\nimport '../vitest/app.ts';" },
    says: ['cli/commands/serve.ts imports cli/vitest/app.ts, which is of another program'],
  },
  {
    title: 'programs see the runtime, the contract and base; guards see builtins and base',
    rule: house.programsSeeTheRuntimeOnly,
    broken: {
      'cli/main.ts': [
        "import '../runtime/runtime.ts'; import '../base/errors.ts'; import '../base/json/json.ts'; import 'commander';",
        "import '../contract/tool.ts'; import './commands/tool.ts'; import '../config/load.ts';",
        "import '../mcp/serve.ts'; import '../mcp/stdio.ts';",
      ].join('\n'),
      'mcp/serve.ts':
        "import './stdio.ts'; import '../runtime/runtime.ts'; import '../gateway/http/server.ts';",
      'cli/guards/links/main.ts':
        "import '../../../builtins/guards/links.ts'; import '../../../runtime/runtime.ts';",
    },
    says: [
      'cli/main.ts imports config/load.ts; a program sees runtime, contract and base',
      'cli/main.ts imports mcp/stdio.ts; a program sees runtime, contract and base',
      'mcp/serve.ts imports gateway/http/server.ts; a program sees runtime, contract and base',
      'cli/guards/links/main.ts imports runtime/runtime.ts; a program sees builtins and base',
    ],
  },
  {
    title: 'only browser code imports browser code',
    rule: house.browserCodeIsApart,
    broken: {
      'base/page/dom.ts': '',
      'console/page/main.ts': "import '../../base/page/dom.ts'; import '../api/pendings.ts';",
      'console/page/keep.ts': "import { readFile } from 'node:fs/promises';",
      'console/server.ts': "import type { Child } from '../base/page/dom.ts';",
    },
    says: [
      'console/server.ts imports base/page/dom.ts, which only browsers run',
      'console/page/keep.ts imports node:fs/promises, which browsers lack',
    ],
  },
  {
    title: 'only process/launch/ starts processes',
    rule: house.onlyLaunchStartsProcesses,
    broken: {
      'process/launch/spawn.ts': "import { execa } from 'execa'; import koffi from 'koffi';",
      'process/oneshot.ts': "import { execa } from 'execa';",
      'runtime/wiring.ts': "import { spawn } from 'node:child_process';",
      'cli/main.ts': "const koffi = require('koffi');",
    },
    says: [
      'process/oneshot.ts imports execa; processes start in process/launch/ only',
      'runtime/wiring.ts imports node:child_process; processes start in process/launch/ only',
      'cli/main.ts imports koffi; processes start in process/launch/ only',
    ],
  },
  {
    title: 'only process/env.ts and the programs read process.env',
    rule: house.environmentIsReadOnce,
    broken: {
      'process/env.ts': 'const path = process.env.PATH;',
      'cli/main.ts': 'const path = process.env.PATH;',
      'process/resolve.ts': 'const path = process.env.PATH;',
      'cli/terminal.ts': 'const path = process.env.NO_COLOR;',
      'process/oneshot.ts': '// process.env is not read here',
    },
    says: [
      'process/resolve.ts reads process.env; only process/env.ts and the programs do',
      'cli/terminal.ts reads process.env; only process/env.ts and the programs do',
    ],
  },
  {
    title: 'the programs are functions of what a process has',
    rule: house.programsAreFunctions,
    broken: {
      'cli/process/run.ts': 'process.exitCode = 1;',
      'cli/pii/main.ts': 'process.exitCode = 1;',
      'cli/columns.ts': 'const { columns } = process.stdout;',
      'cli/locate.ts': "import { cwd } from 'node:process';",
      'cli/pii/serve.ts': 'const { stdin } = process;',
      'process/groups.ts': 'process.kill(1);',
    },
    says: [
      'cli/columns.ts uses process; what it needs of it is a parameter of main()',
      'cli/locate.ts uses process; what it needs of it is a parameter of main()',
      'cli/pii/serve.ts uses process; what it needs of it is a parameter of main()',
    ],
  },
  {
    title: 'only programs print',
    rule: house.onlyProgramsPrint,
    broken: { 'cli/main.ts': "console.log('a');", 'calls/hook.ts': "console.error('a');" },
    says: ['calls/hook.ts uses console; emit an event instead'],
  },
  {
    title: 'nothing in src imports index.ts',
    rule: house.nothingImportsTheIndex,
    broken: { 'cli/main.ts': "import '../index.ts';", 'config/load.ts': "import './index.ts';" },
    says: ['cli/main.ts imports index.ts, which is for users of the library'],
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
    title: 'sub-folders import each other in one direction',
    rule: house.subfoldersFormNoCycle,
    broken: {
      'suites/run/a.ts': "import '../report/b.ts'; import '../plan.ts';",
      'suites/report/b.ts': "import '../stats/c.ts';",
      'suites/stats/c.ts': "import '../run/d.ts'; import '../../base/json/json.ts';",
      'suites/run/d.ts': '',
      'suites/plan.ts': "import './run/a.ts';",
    },
    says: ['sub-folders import each other: suites/run -> suites/report -> suites/stats -> suites/run'],
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
  expect(src.map(({ file }) => file)).toEqual(expect.arrayContaining(['base/errors.ts', 'contract/tool.ts']));
});

test.each(rules)('$title', ({ rule }) => {
  expect(rule(src)).toEqual([]);
});

test.each(rules)('a breach is caught: $title', ({ rule, broken, says }) => {
  expect(rule(Object.entries(broken).map(([file, text]) => parseModule(file, text)))).toEqual(says);
});

test('the folders and files that docs/internals/development.md names are there', () => {
  const page = readFileSync(new URL('../docs/internals/development.md', import.meta.url), 'utf8');
  const tops = house.folders.join('|');
  const named = [...page.matchAll(new RegExp(`\`((?:${tops})/[\\w./-]+)\``, 'g'))].map(
    ([, path = '']) => path,
  );
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !existsSync(new URL(`../src/${path}`, import.meta.url)))).toEqual([]);
});
