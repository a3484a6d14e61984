import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configText, folder, native, promptkit, told, usualGateway } from '../told.ts';

const around = `
providers: [{id: main, type: mock, model: scripted, additional_config: {responses: [{text: hi}]}}]
hooks:
  pii: {command: sh, hook: provider}
gateway:
  `;

function read(section: string, apiVersion = native) {
  const { config, problems } = told(
    configText(apiVersion, `${around}${section.trim().replaceAll('\n', '\n  ')}`),
  );
  const own = problems.filter((problem) => problem.includes('gateway'));
  return { gateway: config?.gateway, problems: own };
}

test('a config without a gateway has one with every default', () => {
  const { config, problems } = told(configText(native, ' {concurrency: 1}'));
  expect({ gateway: config?.gateway, problems }).toEqual({ gateway: usualGateway, problems: [] });
});

test('an audit with defaults refuses calls while rows cannot be stored, and keeps no bodies', () => {
  expect(read('audit: {head: {}}').gateway?.audit).toEqual({
    required: true,
    content: false,
    keepMs: 30 * 86_400_000,
    head: { stdout: false, everyMs: 60_000 },
  });
});

test('every key is read', () => {
  const { gateway, problems } = read(`
listen: "[::1]:0"
models: {fast: {provider: main, model: gpt-5-mini}, same: {provider: main}}
hooks: {strict: [pii], none: []}
on_deny: answer
stream: windowed
window: 500
judge: {pii: new}
opaque: [image]
references: [previous_response_id]
embeddings: {redact: true}
tools: {hooks: true, pending: hold, hold_ms: 5000}
pass_through: [x-api-key, authorization]
limits: {body_bytes: 1000, answer_bytes: 2, depth: 10, headers_ms: 1, request_ms: 2, upstream_ms: 3, answer_ms: 8, idle_ms: 4, connections: 5, held_bytes: 6, total_held_bytes: 7}
keys: {required: false}
audit: {required: false, content: true, key_env: AUDIT_KEY, keep: 7d, head: {file: heads.jsonl, stdout: true, every: 10s}}
drain_ms: 100`);
  expect({ gateway, problems }).toEqual({
    problems: [],
    gateway: {
      listen: { host: '::1', port: 0 },
      models: [
        { name: 'fast', provider: 'main', model: 'gpt-5-mini' },
        { name: 'same', provider: 'main', model: 'scripted' },
      ],
      hooks: new Map([
        ['strict', ['pii']],
        ['none', []],
      ]),
      onDeny: 'answer',
      stream: 'windowed',
      window: 500,
      judge: new Map([['pii', 'new']]),
      opaque: ['image'],
      references: ['previous_response_id'],
      embeddings: { redact: true },
      tools: { hooks: true, pending: 'hold', holdMs: 5000 },
      passThrough: ['authorization', 'x-api-key'],
      forwardHeaders: [],
      limits: {
        ...{ bodyBytes: 1000, answerBytes: 2, depth: 10, headersMs: 1, requestMs: 2, upstreamMs: 3 },
        ...{ answerMs: 8, idleMs: 4, connections: 5, heldBytes: 6, totalHeldBytes: 7 },
      },
      keys: { required: false },
      audit: {
        required: false,
        content: true,
        keyEnv: 'AUDIT_KEY',
        keepMs: 7 * 86_400_000,
        head: { file: join(folder, 'heads.jsonl'), stdout: true, everyMs: 10_000 },
      },
      drainMs: 100,
    },
  });
});

/** Both versions refuse every setting that weakens or breaks a gateway. */
describe.each([native, promptkit])('in %s', (apiVersion) => {
  test.each([
    {
      title: 'an unknown key',
      section: 'on_denied: answer',
      says: ['error 8:5 gateway.on_denied: unknown key | did you mean `on_deny`?'],
    },
    {
      title: 'an address without a port',
      section: 'listen: localhost',
      says: [
        'error 8:13 gateway.listen: must be HOST:PORT, such as 127.0.0.1:8787 or [::1]:8787 (got: localhost)',
      ],
    },
    {
      title: 'a port that there is not',
      section: 'listen: localhost:70000',
      says: [
        'error 8:13 gateway.listen: must be HOST:PORT with a port from 0 to 65535 (got: localhost:70000)',
      ],
    },
    {
      title: 'a provider that is not declared',
      section: 'models: {fast: {provider: mian}}',
      says: [
        'error 8:31 gateway.models[fast].provider: references a provider not declared under spec.providers | did you mean `main`?',
      ],
    },
    {
      title: 'hooks that are not declared',
      section: 'hooks: {strict: [pii, pi]}\njudge: {pli: new}',
      says: [
        'error 8:27 gateway.hooks[strict][1]: references a hook not declared under spec.hooks | did you mean `pii`?',
        'error 9:13 gateway.judge[pli]: references a hook not declared under spec.hooks | did you mean `pii`?',
      ],
    },
    {
      title: 'a header that may not pass',
      section: 'pass_through: [cookie]',
      says: ['error 8:20 gateway.pass_through[0]: must be one of: authorization, x-api-key (got: cookie)'],
    },
    {
      title: 'a word for a truth value, and a duration without a unit',
      section: 'keys: {required: maybe}\naudit: {keep: "30"}',
      says: [
        'error 8:22 gateway.keys.required: must be true or false, not the string "maybe"',
        'error 9:19 gateway.audit.keep: must be a duration such as 90s, 1m30s or 24h (got: 30)',
      ],
    },
    {
      title: 'a window that nothing looks through',
      section: 'window: 100',
      says: ['warning 8:5 gateway.window: is not used: it belongs to stream: windowed'],
    },
  ])('$title is reported', ({ section, says }) => {
    expect(read(section, apiVersion).problems).toEqual(says);
  });
});
