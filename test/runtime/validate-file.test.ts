import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../src/base/yaml/problem.ts';
import { validateFile } from '../../src/runtime/validate-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'check-'));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const fallback = write(
  'runtime.yaml',
  `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  tools: {lookup: {exec: {command: sh}}}
  evals: {polite: {command: sh}}
  providers: [{id: main, type: openai, model: scripted}]
`,
);
write('broken.yaml', 'apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec: {concurrency: 0}\n');

async function problemsOf(text: string): Promise<readonly string[]> {
  const file = write('x.yaml', text);
  return (await validateFile(file, fallback)).map((problem) =>
    formatProblem(problem)
      .replaceAll(`${file}:`, '')
      .replaceAll(`${folder}/`, '')
      .replace('\n    hint: ', ' | '),
  );
}

const head = (kind: string) => `apiVersion: signalbox/v1\nkind: ${kind}\nspec:\n`;

describe('a pipeline', () => {
  const steps = '  steps: [{id: a, tool: lokup}, {id: b, eval: polite, content: x}]\n';

  test('is checked against the runtime that it names, or else the given one', async () => {
    const expected = 'steps[0].tool: no tool named lokup is declared | did you mean `lookup`?';
    expect(await problemsOf(`${head('Pipeline')}${steps}`)).toEqual([`4:25 ${expected}`]);
    expect(await problemsOf(`${head('Pipeline')}  runtime: ./runtime.yaml\n${steps}`)).toEqual([
      `5:25 ${expected}`,
    ]);
  });

  test('whose runtime is broken gets that report, and its names are unchecked', async () => {
    expect(await problemsOf(`${head('Pipeline')}  runtime: ./broken.yaml\n${steps}`)).toEqual([
      '4:12 warning: runtime: broken.yaml has an error, so the names in its steps are not checked | Run `signalbox validate ' +
        'broken.yaml`.',
    ]);
  });

  test('whose runtime cannot be read is refused once for that', async () => {
    const hint = 'Check the path; it is relative to the folder of this file.';
    expect(await problemsOf(`${head('Pipeline')}  runtime: ./nowhere.yaml\n${steps}`)).toEqual([
      `4:12 runtime: nowhere.yaml does not exist | ${hint}`,
    ]);
    expect(await problemsOf(`${head('EvalSuite')}  runtime: ./nowhere.yaml\n${ofSuite}`)).toEqual([
      `4:12 runtime: nowhere.yaml does not exist | ${hint}`,
    ]);
    expect(await problemsOf(`${head('Pipeline')}  runtime: .\n${steps}`)).toEqual([
      expect.stringMatching(/^4:12 runtime: .* is a folder \| Check the path/),
    ]);
  });
});

const ofSuite =
  '  cases: [{content: x}]\n  case: {content: "${case.content}"}\n  evals: [{id: a, type: polite}]\n';
const literal = 'is used literally: expressions are not evaluated here | Write the value itself.';

describe('text that looks like a filled-in value', () => {
  test('and is not, in a pipeline', async () => {
    const steps = [
      '  steps:',
      '    - {id: a, tool: lookup, args: {q: "{{ input.q }} and ${input.q}"}}',
      '    - {id: b, eval: "${input.type}", content: "{{}}"}',
      '    - {id: c, chat: {provider: main, system: "You are {{name}}.", messages: "${input.all}", tools: ["${input.tool}"]}}',
      '  output: {text: "{{steps.c.text}}"}',
      '  input: {type: object, properties: {q: {description: "as ${this}"}}}',
      '',
    ].join('\n');
    expect(await problemsOf(`${head('Pipeline')}${steps}`)).toEqual([
      '5:39 warning: steps[0].args.q: `{{ input.q }}` is used literally | Write `${input.q}`.',
      '6:21 steps[1].eval: no eval named ${input.type} is declared | declared evals: polite; docs/reference/checks.md lists the built-in checks',
      `6:21 steps[1].eval: ${literal}`,
      '6:47 warning: steps[1].content: `{{}}` is used literally | Expressions are `${…}`.',
      '7:46 warning: steps[2].chat.system: `{{name}}` is used literally | Write `${input.name}`.',
      '7:101 steps[2].chat.tools[0]: no tool named ${input.tool} is declared | known tools: lookup',
      `7:101 steps[2].chat.tools[0]: ${literal}`,
      '8:18 warning: output.text: `{{steps.c.text}}` is used literally | Write `${steps.c.text}`.',
    ]);
  });

  test('and is not, in a suite', async () => {
    const suite = [
      '  dataset: {path: "${case.file}"}',
      '  case: {id: "{{case.id}}", content: "${case.content}", tags: ["${case.tag}"]}',
      '  subject: {chat: {provider: main, messages: [{role: user, content: "Say {{ case.word }}"}]}}',
      '  evals: [{id: a, type: polite, params: {words: ["{{x}}"]}, threshold: {min_score: "${case.least}"}}]',
      '',
    ].join('\n');
    expect(await problemsOf(`${head('EvalSuite')}${suite}`)).toEqual([
      `4:19 dataset.path: ${literal}`,
      '5:14 warning: case.id: `{{case.id}}` is used literally | Write `${case.id}`.',
      '6:69 warning: subject.chat.messages[0].content: `{{ case.word }}` is used literally | Write `${case.word}`.',
      '7:50 warning: evals[0].params.words[0]: `{{x}}` is used literally | Write `${case.x}`.',
    ]);
  });

  test('and is data, in the cases of a suite', async () => {
    const cases = '  cases: [{content: "${HOME} {{name}}"}]\n';
    const suite = ofSuite.slice(ofSuite.indexOf('  case:'));
    expect(await problemsOf(`${head('EvalSuite')}${cases}${suite}`)).toEqual([]);
  });

  test('and is not, in a RuntimeConfig', async () => {
    const spec = [
      '  providers:',
      '    - {id: main, type: openai, model: "${MODEL}", credential: {api_key: "${OPENAI_API_KEY}"}, headers: {X: "a ${B}"}}',
      '    - {id: script, type: mock, model: m, additional_config: {responses: [{text: "${input}"}]}}',
      '  tools:',
      '    a: {description: "gives ${HOME}", exec: {command: sh, args: [-c, "echo ${HOME}"], env: ["A=${B}"]}}',
      '    b: {exec: {command: "${HOME}/b", cwd: "${HOME}"}}',
      '    c: {exec: {command: sh, args: ["${SCRIPT}"]}}',
      '    d: {exec: {command: sh}, approval: {when: "${args.n > 1}", message: "${args.n}"}}',
      '  hooks:',
      '    h: {dialect: claude, command: "${CLAUDE_PROJECT_DIR}/x ${A}", claude: {event: Stop}}',
      '',
    ].join('\n');
    const stray = (name: string) => `\`\${${name}}\` is not replaced here; it stays as it is written`;
    const alone = 'Name the variable alone, as in `env: [HOME_PAGE]`: its value is passed on.';
    const path = 'Write the path itself; a relative one starts at the config file’s folder.';
    const found = (await problemsOf(`${head('RuntimeConfig')}${spec}`)).filter((problem) =>
      /is not replaced here/.test(problem),
    );
    expect(found).toEqual([
      `5:39 providers[0].model: ${stray('MODEL')} | Write the value itself.`,
      `5:73 providers[0].credential.api_key: ${stray('OPENAI_API_KEY')} | Write \`credential: {credential_env: NAME}\`.`,
      `5:108 providers[0].headers[X]: ${stray('B')} | Write the value itself.`,
      `8:93 tools[a].exec.env[0]: ${stray('B')} | ${alone}`,
      `9:25 tools[b].exec.command: ${stray('HOME')} | ${path}`,
      `9:43 tools[b].exec.cwd: ${stray('HOME')} | ${path}`,
      `10:36 warning: tools[c].exec.args[0]: ${stray('SCRIPT')} | Pass the variable on with \`env: [NAME]\`, and read it in the program.`,
    ]);
  });
});

describe('an unknown provider type', () => {
  const spec =
    '  providers: [{id: main, type: opanai, model: m}, {id: far, type: bedrock, model: m, platform: {type: aws}}]\n';

  test('is refused with the nearest one', async () => {
    expect(await problemsOf(`${head('RuntimeConfig')}${spec}`)).toEqual([
      '4:32 providers[0].type: there is no provider type opanai | did you mean `openai`?',
      expect.stringContaining('the provider is refused when it is used: its platform aws is not supported'),
    ]);
  });

  test('is a warning in a file of PromptKit, whose loader accepts it', async () => {
    const text = `${head('RuntimeConfig')}${spec}`.replace(
      'signalbox/v1',
      'promptkit.altairalabs.ai/v1alpha1',
    );
    expect((await problemsOf(text))[0]).toBe(
      '4:32 warning: providers[0].type: there is no provider type opanai; a call of the provider fails | did you mean `openai`?',
    );
  });
});

describe('the kind of a file', () => {
  test.each([
    {
      title: 'that is unknown is told with those that there are',
      text: 'apiVersion: signalbox/v1\nkind: Arena\nspec: {anything: 1}\n',
      problems: ['2:7 kind: must be one of: RuntimeConfig, EvalSuite, Pipeline (got: Arena)'],
    },
    {
      title: 'that is missing is told with those that there are',
      text: 'apiVersion: signalbox/v1\n',
      problems: ['1:1 kind: must be one of: RuntimeConfig, EvalSuite, Pipeline'],
    },
    {
      title: 'that is unknown does not hide what else is wrong with the YAML',
      text: 'kind: Arena\na: 1\na: 2\n',
      problems: [
        '1:7 kind: must be one of: RuntimeConfig, EvalSuite, Pipeline (got: Arena)',
        '3:1 duplicate key `a` in one mapping | Remove one of the two.',
      ],
    },
    {
      title: 'that is misspelt decides what the file is checked as: a pipeline',
      text: `${head('pipelines')}  steps: [{id: a}]\n`,
      problems: [
        '2:7 kind: must be Pipeline (got: pipelines) | did you mean `Pipeline`?',
        '4:11 steps[0]: needs one of: tool, eval, chat, parallel, steps, wait, ask, pipeline',
      ],
    },
    {
      title: 'that is misspelt decides what the file is checked as: a suite',
      text: `${head('EvalSuit')}  cases: [{content: x}]\n  evals: [{id: a, type: polit}]\n`,
      problems: [
        '2:7 kind: must be EvalSuite (got: EvalSuit) | did you mean `EvalSuite`?',
        '5:25 evals[0].type: no eval named polit is declared | did you mean `polite`?',
      ],
    },
    {
      title: 'that is misspelt decides what the file is checked as: a config',
      text: `${head('RuntimeConfg')}  concurrency: 0\n`,
      problems: [
        '2:7 kind: must be RuntimeConfig | did you mean `RuntimeConfig`?',
        '4:16 concurrency: must be at least 1 (got: 0)',
      ],
    },
    {
      title: 'of no mapping at all is no matter',
      text: '- a\n',
      problems: [
        '1:1 must be a mapping, not a list | The file begins with keys: `apiVersion`, `kind`, `metadata` and `spec`.',
      ],
    },
  ])('$title', async ({ text, problems }) => {
    expect(await problemsOf(text)).toEqual(problems);
  });
});

test('a missing file is one problem', async () => {
  expect(await validateFile(join(folder, 'none.yaml'), fallback)).toEqual([
    expect.objectContaining({
      severity: 'error',
      line: 1,
      column: 1,
      message: expect.stringContaining('does not exist'),
    }),
  ]);
});
