import { describe, expect, test } from 'vitest';
import { canary, canaryIn } from '../canary.ts';
import { configText, native, promptkit, told as toldOf, write } from './told.ts';

const told = (spec: string, env: Readonly<Record<string, string>> = {}) =>
  toldOf(configText(native, spec), { env });
const provider = (keys: string) => `\nproviders:\n  - {id: main, type: openai, model: m, ${keys}}`;

describe('a value of a RuntimeConfig', () => {
  test('comes from the environment, or else is the default [DS-ENV-01]', () => {
    const spec = provider(
      'base_url: "https://${env:HOST}/${env:PATH_PART:-v1}", headers: {A: "${env:NONE:-}", B: "${env:EMPTY:-x}"}',
    );
    const { config, problems } = told(spec, { HOST: 'api.example.com', EMPTY: '' });
    expect({ base: config?.providers[0]?.baseUrl, headers: config?.providers[0]?.headers, problems }).toEqual(
      {
        base: 'https://api.example.com/v1',
        headers: { A: '', B: 'x' },
        problems: [],
      },
    );
  });

  test('is a number or a boolean where the schema allows no text, and text where it does [DS-ENV-02]', () => {
    const spec =
      '\nconcurrency: ${env:MANY}\ngateway: {audit: {content: "${env:KEEP}"}}\nlogging: {commonFields: {port: "${env:MANY}"}}';
    const { config, problems } = told(spec, { MANY: '7', KEEP: 'true' });
    expect({
      many: config?.concurrency,
      keeps: config?.gateway.audit,
      fields: config?.logging.fields,
      problems,
    }).toMatchObject({ many: 7, fields: { port: '7' }, problems: [] });
  });

  test('that names an unset variable is an error with its place and the next step [DS-ENV-03]', () => {
    const { config, problems } = told('\nconcurrency: ${env:MAYN}\ndefaults: {timeout_ms: "${env:}"}', {
      MANY: '7',
    });
    expect({ config, problems }).toEqual({
      config: undefined,
      problems: [
        'error 4:16 concurrency: the environment variable MAYN is not set | Set it, name a file that does in `spec.env_file`, or write a default: `${env:MAYN:-…}`. Or did you mean `MANY`?',
        'error 5:26 defaults.timeout_ms: `${env:}` does not name a variable | Write `${env:NAME}` or `${env:NAME:-default}`; write `$${env:` for the characters themselves.',
      ],
    });
  });

  test('that holds `${…}` of any kind is text for good [DS-ENV-04]', () => {
    const HOST = '${env:SECRET}-${args.x}-$${env:X}';
    const { config, problems } = told(provider('headers: {A: "${env:HOST}", B: "$${env:HOST}"}'), {
      HOST,
      SECRET: 's',
    });
    expect({ headers: config?.providers[0]?.headers, problems }).toEqual({
      headers: { A: HOST, B: '${env:HOST}' },
      problems: [],
    });
  });
});

describe('text that resembles code', () => {
  test('stays text if another program reads it [DS-ENV-05]', () => {
    const spec = `
tools:
  t: {description: d, input_schema: {type: string, pattern: "^\${env:X}$"}, exec: {command: "\${env:SHELL_NAME}", args: [-c, "echo \${env:X}"]}}
hooks:
  h: {dialect: claude, command: "Write-Host \${env:X}", claude: {event: PreToolUse, matcher: "\${env:X}"}}`;
    const { config } = told(spec, { SHELL_NAME: 'sh', X: '$(rm -rf /)' });
    expect(config?.tools[0]?.exec).toMatchObject({ command: 'sh', args: ['-c', 'echo ${env:X}'] });
    expect(JSON.stringify([config?.tools[0]?.inputSchema, config?.foreign])).not.toContain('rm -rf');
  });

  test.each([
    [
      'tools: {t: {description: d, exec: {command: cat}, approval: {when: "${args.a == \\"${env:X}\\"}"}}}',
      '4:70 tools[t].approval.when',
    ],
    [
      'tools: {t: {description: d, exec: {command: cat}, approval: {message: "${env:X}"}}}',
      '4:73 tools[t].approval.message',
    ],
    ['sandboxes: {s: {mode: command, prefix: [run, "${env:X}", "${id}"]}}', '4:48 sandboxes[s].prefix[1]'],
  ])('is refused where it would be read as an expression or a placeholder: %s [DS-ENV-06]', (spec, place) => {
    const { config, problems } = told(`\n${spec}`, { X: '" == "" || true || "' });
    const refusal = 'variables are not replaced here: the value would be read as part of the text';
    expect({ config, problems }).toEqual({
      config: undefined,
      problems: [`error ${place}: ${refusal} | Write the value itself.`],
    });
  });

  test('is not filled into a file of PromptKit', () => {
    const { problems } = toldOf(configText(promptkit, provider('base_url: "${env:X}"')), { env: { X: 'y' } });
    expect(problems).toEqual([
      'warning 5:52 providers[0].base_url: `${env:X}` is not replaced here; it stays as it is written | Write the value itself.',
    ]);
  });
});

describe('the value of a variable', () => {
  test.each([
    '\nconcurrency: ${env:KEY}',
    '\nconcurrency: "a${env:KEY}"',
    '\nlogging: {defaultLevel: "${env:KEY}"}',
    '\ngateway: {listen: "${env:KEY}"}',
    '\ntools: {t: {description: d, exec: {command: "./${env:KEY}"}}}',
    provider('request_timeout: "${env:KEY}"'),
    provider('base_url: "${env:KEY}"'),
    '\nstate_store: {type: "${env:KEY}"}',
  ])('is in no problem of the file:%s [DS-ENV-07]', (spec) => {
    for (const KEY of [canary, `${canary}\n  ${canary.repeat(20)}`, `"${canary}"`]) {
      const { problems } = toldOf(configText(native, spec), { env: { KEY }, refusesUnusable: true });
      expect(canaryIn(problems.join('\n'))).toEqual([]);
    }
  });

  test('is a secret of the config, unless it is declared public [DS-ENV-08]', () => {
    const spec = `\npublic_env: [STAGE, STAEG]${provider('headers: {A: "${env:TOKEN}", B: "${env:STAGE}", C: "${env:UNSET:-plain}"}')}`;
    const { config, problems } = told(spec, { TOKEN: 'the-token', STAGE: 'production' });
    expect({ secrets: config?.environment?.secrets, problems }).toEqual({
      secrets: ['the-token'],
      problems: ['warning 4:23 public_env[1]: the file has no `${env:STAEG}` | did you mean `STAGE`?'],
    });
  });
});

describe('`env_file`', () => {
  test('sets what the environment does not [DS-ENV-09]', () => {
    write('vars.env', '# a comment\nHOST="one.example.com"\nPART=\'v2\'\nexport MORE=x\n');
    const { config, problems } = told(
      `\nenv_file: vars.env${provider('base_url: "https://${env:HOST}/${env:PART}"')}`,
      {
        HOST: 'two.example.com',
      },
    );
    expect({
      base: config?.providers[0]?.baseUrl,
      more: config?.environment?.variables['MORE'],
      problems,
    }).toEqual({
      base: 'https://two.example.com/v2',
      more: 'x',
      problems: [],
    });
  });

  test.each([
    ['missing.env', undefined],
    ['.', undefined],
    ['latin1.env', Buffer.from([0x41, 0x3d, 0xe4])],
  ])('that cannot be read is one error with its place: %s [DS-ENV-10]', (name, bytes) => {
    if (bytes !== undefined) write(name, bytes);
    const { problems } = told(`\nenv_file: ${name}\nconcurrency: \${env:MANY}`);
    expect(problems.map((problem) => problem.split(' ').slice(0, 3))).toEqual([
      ['error', '4:13', 'env_file:'],
    ]);
  });
});
