import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { start, workspace } from '../../cli/command-line.ts';

const tools = {
  'allow.sh': '#!/bin/sh\necho \'{"allow": true}\'\n',
  'greet.sh': '#!/bin/sh\necho \'{"result": "hello"}\'\n',
  'slow.sh': '#!/bin/sh\necho started >&2\nsleep 600\n',
};
const cwd = workspace(
  `
telemetry: {metrics: false}
tools:
  greet: {exec: {command: ./greet.sh}}
  slow: {exec: {command: ./slow.sh}}
hooks:
  limit: {command: ./allow.sh, hook: tool, phases: [before_execution], external: true, match: {tools: [Bash]}}
`,
  tools,
);

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function collector(answer: Answer) {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      // Only the end of the command may end an export.
      ...{ OTEL_EXPORTER_OTLP_TIMEOUT: '3600000', OTEL_BSP_EXPORT_TIMEOUT: '3600000' },
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const hangs: Answer = () => {};
const faults: readonly { title: string; answer: Answer; warning: RegExp | undefined }[] = [
  { title: 'never answers', answer: hangs, warning: /it did not answer in time/ },
  {
    title: 'never ends its answer',
    answer: (_, response) => {
      response.writeHead(200).write('{');
      setInterval(() => response.write(' '), 100).unref();
    },
    warning: /it did not answer in time/,
  },
  {
    title: 'answers without an end',
    answer: (_, response) => {
      response.writeHead(200);
      const more = () => {
        while (response.writable && response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    },
    warning: undefined,
  },
  {
    title: 'refuses the spans',
    answer: (_, response) => response.writeHead(400).end('no'),
    warning: /it answered with status 400/,
  },
  {
    title: 'is overloaded',
    answer: (_, response) => response.writeHead(503, { 'retry-after': '600' }).end(),
    warning: /it answered with status 503/,
  },
  {
    title: 'closes the connection',
    answer: (request) => request.socket.destroy(),
    warning: /socket hang up/,
  },
];

test.each(faults)(
  'a collector that $title changes no call, and is reported once',
  async ({ answer, warning }) => {
    await using there = await collector(answer);
    const { stderr, ...ran } = await start(['tool', 'call', 'greet'], { cwd, env: there.env }).ran;
    expect(ran).toEqual({ code: 0, stdout: 'hello\n' });
    const lines = stderr.split('\n').filter((line) => line !== '');
    expect(lines).toEqual(
      warning === undefined ? [] : [expect.stringMatching(/WARN: .* spans cannot be sent to http:\/\/127/)],
    );
    if (warning !== undefined) expect(stderr).toMatch(warning);
  },
);

test('an absent collector changes no call, and is reported once', async () => {
  const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://user:p4ssw0rd@127.0.0.1:9/v1/traces' };
  const { stderr, ...ran } = await start(['tool', 'call', 'greet'], { cwd, env }).ran;
  expect(ran).toEqual({ code: 0, stdout: 'hello\n' });
  expect(stderr).toMatch(/^\S+ WARN: .* spans cannot be sent to http:\/\/127\.0\.0\.1:9\/v1\/traces: .*\n$/);
});

test('an agent waits less for the spans of its hook than a user', async () => {
  await using there = await collector((_, response) => setTimeout(() => response.end('{}'), 1_500).unref());
  const called = await start(['tool', 'call', 'greet'], { cwd, env: there.env }).ran;
  expect(called).toEqual({ code: 0, stdout: 'hello\n', stderr: '' });
  const event = { ...{ session_id: 's', transcript_path: '/t', cwd, permission_mode: 'default' } };
  const input = JSON.stringify({
    ...{ ...event, hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: {}, tool_use_id: 't' },
  });
  const asked = await start(['hook', 'claude'], { cwd, env: there.env, stdin: input }).ran;
  expect(asked).toMatchObject({ code: 0, stderr: expect.stringContaining('it did not answer in time') });
});

test('faults that the packages find in variables are reported', async () => {
  await using there = await collector((_, response) => response.end('{}'));
  const env = { ...there.env, OTEL_EXPORTER_OTLP_COMPRESSION: 'lz4' };
  const { stderr, ...ran } = await start(['tool', 'call', 'greet'], { cwd, env }).ran;
  expect(ran).toEqual({ code: 0, stdout: 'hello\n' });
  expect(stderr).toMatch(/^\S+ WARN: .*telemetry: .*lz4.*\n$/);
});

test('Ctrl-C ends a call although the collector never answers', async () => {
  await using there = await collector(hangs);
  const { child, ran } = start(['tool', 'call', 'slow'], { cwd, env: there.env });
  await once(child.stderr ?? child, 'data');
  child.kill('SIGINT');
  const { code, stderr } = await ran;
  expect(code).toBe(130);
  expect(stderr).not.toContain('STOP_TIMEOUT');
});

test.each([
  ['OTEL_SDK_DISABLED', 'true'],
  ['OTEL_TRACES_EXPORTER', 'none'],
  ['OTEL_TRACES_SAMPLER', 'always_off'],
])('%s=%s sends nothing', async (name, value) => {
  let received = 0;
  await using there = await collector((_, response) => {
    received += 1;
    response.end();
  });
  const env = { ...there.env, [name]: value };
  const ran = await start(['tool', 'call', 'greet'], { cwd, env }).ran;
  expect({ ...ran, received }).toEqual({ code: 0, stdout: 'hello\n', stderr: '', received: 0 });
});
