import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { folderOf, onlyDocument, run, runJson } from './command-line.ts';

const files = [
  'README.md',
  'event.json',
  'quickstart.suite.yaml',
  'runtime.yaml',
  'scripts/concise.py',
  'scripts/greet.py',
  'scripts/pii_filter.py',
  'scripts/signalbox.py',
];

const parent = folderOf({});
const folder = join(parent, 'my-guards');

test('init writes its files, lists them, and says what to try [DS-CLI-03]', async () => {
  const { code, stdout, stderr } = await run('init my-guards', { cwd: parent });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(`${files.map((file) => `wrote my-guards/${file}\n`).join('')}
Try:
  cd my-guards
  signalbox validate
  signalbox tool list
  signalbox eval run quickstart.suite.yaml
  signalbox serve
`);
});

test('its scripts are executable, and all its files writable [DS-CLI-03]', () => {
  for (const file of files) accessSync(join(folder, file), constants.R_OK | constants.W_OK);
  for (const file of files.filter((name) => /(?<!signalbox)\.py$/.test(name))) {
    accessSync(join(folder, file), constants.X_OK);
  }
  expect(readFileSync(join(folder, 'runtime.yaml'), 'utf8')).toContain('kind: RuntimeConfig');
});

const schemaIn = (file: string) => /\$schema=(.*)\n/.exec(readFileSync(file, 'utf8'))?.[1] ?? '';

test.for([
  {
    title: 'of the project that a folder is in',
    inside: 'a project/my-guards',
    names: '../node_modules/signalbox/schema/',
  },
  {
    title: 'two folders below the project',
    inside: 'a project/tools/guards',
    names: '../../node_modules/signalbox/schema/',
  },
  { title: 'of the project itself', inside: 'a project', names: './node_modules/signalbox/schema/' },
  { title: 'of a global installation', inside: 'elsewhere', names: /^\/.*\/schema\// },
])('init names the schemas and pages $title, and they exist [DS-CLI-03]', async ({ inside, names }) => {
  const home = folderOf({});
  mkdirSync(join(home, 'a project/node_modules'), { recursive: true });
  symlinkSync(join(import.meta.dirname, '../..'), join(home, 'a project/node_modules/signalbox'));
  await run(['init', inside], { cwd: home });
  for (const file of ['runtime.yaml', 'quickstart.suite.yaml']) {
    const schema = schemaIn(join(home, inside, file));
    expect(schema).toMatch(names instanceof RegExp ? names : new RegExp(`^${names.replaceAll('.', '\\.')}`));
    accessSync(resolve(home, inside, schema), constants.R_OK);
    const pages = readFileSync(join(home, inside, file), 'utf8').match(/\S+\/docs\/\S+\.md/g) ?? [];
    expect(pages).not.toEqual([]);
    for (const page of pages) accessSync(resolve(home, inside, page), constants.R_OK);
  }
});

const commands = [
  { says: 'validate', code: 0, stdout: /^$/ },
  { says: 'tool list', code: 0, stdout: /^TOOL {3}RUNTIME {2}DESCRIPTION\ngreet {2}exec {5}/ },
  { says: 'tool call greet --args {"name":"Ada"}', code: 0, stdout: /^Hello, Ada!\n$/ },
  { says: 'tool call greet --args {"nmae":"Ada"}', code: 1, stdout: /^$/ },
  { says: 'eval call concise --content Yes.', code: 0, stdout: /^1/ },
  { says: 'eval run quickstart.suite.yaml', code: 0, stdout: /^quickstart: passed\n/ },
  {
    says: 'hook fire --hook provider --phase before_call --event @event.json',
    code: 0,
    stdout: /^modify by hook "pii_filter"/,
  },
];

test.concurrent.for(commands)(
  'in the folder that init wrote, `signalbox $says` works [DS-CLI-03]',
  async (row, { expect }) => {
    const { code, stdout } = await run([...row.says.split(' '), '--log-level', 'silent'], { cwd: folder });
    expect({ code, stdout }).toEqual({ code: row.code, stdout: expect.stringMatching(row.stdout) });
    expect(stdout).not.toMatch(/ada@example\.org|4242 4242/);
  },
);

/** What a script is called, what starts it, and an edit after which the filter returns nothing. */
const languages = [
  {
    lang: 'node',
    needs: 'node',
    source: 'scripts/$1.mjs',
    program: 'scripts/$1.mjs',
    breaks: ['return replace(', 'replace('],
  },
  {
    lang: 'go',
    needs: 'go',
    source: '$1/main.go',
    program: 'bin/$1',
    breaks: ['return signalbox.Replace(changed).With("reason", "personal data was hidden")', 'return nil'],
  },
  {
    lang: 'sh',
    needs: 'jq',
    source: 'scripts/$1.sh',
    program: 'scripts/$1.sh',
    breaks: ['reply_jq ', 'true '],
  },
] as const;

const scriptOf = (file: string, path: string) => file.replace(/^scripts\/(.*)\.py$/, path);
const isThere = (program: string) => spawnSync(program, ['version']).error === undefined;
const build = (folder: string) => {
  const { status, stderr } = spawnSync('go', ['build', '-o', 'bin/', './...'], { cwd: folder });
  expect({ status, stderr: stderr.toString() }).toEqual({ status: 0, stderr: '' });
};

describe.each(languages.filter(({ needs }) => needs === 'node' || isThere(needs)))(
  'init --lang $lang',
  ({ lang, source, program, breaks: [unbroken, broken] }) => {
    const target = join(folderOf({}), lang);
    beforeAll(async () => {
      await run(['init', target, '--lang', lang]);
      if (lang === 'go') build(target);
    });

    test('writes the same files with scripts in that language, and names no other [DS-CLI-03]', () => {
      const names = readdirSync(target, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/bin'))
        .map((entry) => relative(target, join(entry.parentPath, entry.name)));
      const expected = files.map((file) =>
        scriptOf(file, lang === 'go' && file.includes('signalbox') ? '$1/$1.go' : source),
      );
      expect(names.toSorted()).toEqual([...expected, ...(lang === 'go' ? ['go.mod'] : [])].toSorted());
      for (const name of names)
        expect(readFileSync(join(target, name), 'utf8')).not.toMatch(/python|\.py\b|print\(/i);
    });

    test.concurrent.for(commands)('`signalbox $says` works [DS-CLI-03]', async (row, { expect }) => {
      const { code, stdout } = await run([...row.says.split(' '), '--log-level', 'silent'], { cwd: target });
      expect({ code, stdout }).toEqual({ code: row.code, stdout: expect.stringMatching(row.stdout) });
      expect(stdout).not.toMatch(/ada@example\.org|4242 4242/);
    });

    test('its scripts answer like those in Python, value by value [DS-CLI-03]', () => {
      const answer = (file: string, input: string) => {
        const { stdout, status } = spawnSync(file, { input });
        return { status, reply: JSON.parse(stdout.toString()) };
      };
      for (const [script, input] of inputs) {
        const own = answer(join(target, scriptOf(script, program)), input);
        expect(own).toEqual(answer(join(quickstart, script), input));
      }
    });

    test('its filter denies when it returns nothing, and when it receives no JSON [DS-CLI-03]', async () => {
      const file = join(target, scriptOf('scripts/pii_filter.py', source));
      const text = readFileSync(file, 'utf8');
      expect(text).toContain(unbroken);
      writeFileSync(file, text.replace(unbroken, broken));
      if (lang === 'go') build(target);
      const { code, document } = await runJson(fired, { cwd: target });
      writeFileSync(file, text);
      if (lang === 'go') build(target);
      expect({ code, document }).toMatchObject({
        code: 1,
        document: { verdict: 'deny', hook: 'pii_filter' },
      });
      const filter = join(target, scriptOf('scripts/pii_filter.py', program));
      const { stdout, status } = spawnSync(filter, { input: '{"phase": ' });
      expect({ status, allows: /"allow": ?true/.test(stdout.toString()) }).toEqual({
        status: 1,
        allows: false,
      });
    });
  },
);

const fired = ['hook', 'fire', '--hook', 'provider', '--phase', 'before_call', '--event', '@event.json'];

const authors = fileURLToPath(new URL('../../authors', import.meta.url));
const { version } = JSON.parse(readFileSync(join(authors, '../package.json'), 'utf8'));
const quickstart = fileURLToPath(new URL('../../examples/quickstart', import.meta.url));

const told = (event: object) => JSON.stringify(event);
const personal = 'Ada <ada.l+x@mail.example.org>, 4242 4242 4242 4242, not 4242 4242 4242 4243 or 42424242';
const inputs: [script: string, input: string][] = [
  ['scripts/greet.py', told({ args: { name: 'Ada' } })],
  ['scripts/greet.py', told({ args: { name: 'Zoë "$(id)" \\', language: 'ja' } })],
  ['scripts/concise.py', told({ params: {}, content: 'one two\n three' })],
  ['scripts/concise.py', told({ params: { max_words: 2 }, content: 'one two three' })],
  ['scripts/concise.py', told({ params: {}, content: ' ' })],
  [
    'scripts/pii_filter.py',
    told({ phase: 'before_call', request: { messages: [{ role: 'user', content: 'Hello' }] } }),
  ],
  [
    'scripts/pii_filter.py',
    told({
      phase: 'before_call',
      request: { messages: [{ id: personal, role: 'user', content: personal }], system_prompt: personal },
    }),
  ],
  [
    'scripts/pii_filter.py',
    told({
      phase: 'before_call',
      request: { messages: [{ role: 'user', content: personal }], system_prompt: '', other: { n: 1 } },
    }),
  ],
  [
    'scripts/pii_filter.py',
    told({
      phase: 'after_call',
      request: {},
      response: { message: { content: [{ text: personal }], n: [1, null, true] } },
    }),
  ],
];

test('its suite is valid too [DS-CLI-03]', async () => {
  expect(await run('validate runtime.yaml quickstart.suite.yaml', { cwd: folder })).toEqual({
    code: 0,
    stdout: '',
    stderr: '2 files: 0 errors, 0 warnings\n',
  });
});

test('its filter denies when it returns nothing, as its README says [DS-CLI-03]', async () => {
  const filter = join(folder, 'scripts/pii_filter.py');
  writeFileSync(
    filter,
    readFileSync(filter, 'utf8').replace('return signalbox.replace', 'signalbox.replace'),
  );
  const { code, document } = await runJson(fired, { cwd: folder });
  expect({ code, document }).toMatchObject({
    code: 1,
    document: { verdict: 'deny', hook: 'pii_filter', reason: 'the filter returned nothing' },
  });
});

test('init --helper writes the helper, updates a copy, and overwrites no other file [DS-CLI-04]', async () => {
  const scripts = folderOf({ 'signalbox.py': '# signalbox helper 0.0.1', 'signalbox.sh': 'mine' });
  const names = { python: 'signalbox.py', node: 'signalbox.mjs', go: 'signalbox/signalbox.go' };
  for (const [lang, name] of Object.entries(names)) {
    expect(await run(['init', '.', '--helper', '--lang', lang], { cwd: scripts })).toEqual({
      code: 0,
      stdout: `wrote ${name}\n`,
      stderr: '',
    });
    const source = join(authors, lang === 'go' ? 'go/signalbox.go' : name);
    expect(readFileSync(join(scripts, name), 'utf8')).toBe(readFileSync(source, 'utf8'));
  }
  expect(await run('init . --helper --lang sh', { cwd: scripts })).toMatchObject({ code: 2, stdout: '' });
  expect(readFileSync(join(scripts, 'signalbox.sh'), 'utf8')).toBe('mine');
});

test.for<readonly [source: string, copy: string]>([
  ['signalbox.py', 'quickstart/scripts/signalbox.py'],
  ['signalbox.mjs', 'quickstart-node/scripts/signalbox.mjs'],
  ['go/signalbox.go', 'quickstart-go/signalbox/signalbox.go'],
  ['signalbox.sh', 'quickstart-sh/scripts/signalbox.sh'],
])('authors/%s has the version of the package, and examples/%s is the same', ([source, copy]) => {
  const text = readFileSync(join(authors, source), 'utf8');
  expect(/signalbox helper (\S+) /.exec(text)?.[1]).toBe(version);
  expect(readFileSync(join(authors, '../examples', copy), 'utf8')).toBe(text);
});

test('init refuses to overwrite a file, and then writes none [DS-CLI-04]', async () => {
  const taken = folderOf({ 'scripts/greet.py': 'mine' });
  const { code, stdout, stderr } = await run('init', { cwd: taken });
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'error: [USAGE] scripts/greet.py already exists; nothing was written\nhint: Choose an empty folder: `signalbox init NEW_FOLDER`.\n',
  });
  expect(readFileSync(join(taken, 'scripts/greet.py'), 'utf8')).toBe('mine');
  expect(() => accessSync(join(taken, 'runtime.yaml'))).toThrow();
  expect(await runJson('init .', { cwd: taken })).toEqual({
    code: 2,
    document: {
      error: {
        code: 'USAGE',
        message: 'scripts/greet.py already exists; nothing was written',
        hint: 'Choose an empty folder: `signalbox init NEW_FOLDER`.',
      },
    },
    stderr: '',
  });
});

test('init --json lists what it wrote [DS-CLI-02]', async () => {
  const { code, stdout } = await run('init --json', { cwd: folderOf({}) });
  expect({ code, document: onlyDocument(stdout) }).toEqual({ code: 0, document: { folder: '.', files } });
});

test('a read-only folder is an error that says so [DS-CLI-12]', async () => {
  const { code, document } = await runJson('init file/below', { cwd: folderOf({ file: '' }) });
  expect({ code, document }).toEqual({
    code: 2,
    document: {
      error: {
        code: 'USAGE',
        message: expect.stringMatching(/^file\/below cannot be written \(ENOTDIR/),
        hint: 'Choose a writable folder.',
      },
    },
  });
});
