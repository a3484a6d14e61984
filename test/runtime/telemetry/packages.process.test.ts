import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { start } from '../../cli/command-line.ts';
import { config, folderOf } from '../../workspace.ts';
import { installApi, installSignalbox, linkPackage } from './installed.ts';

const exporters = ['@opentelemetry/exporter-trace-otlp-http', '@opentelemetry/exporter-prometheus'];
const machine = folderOf({});
const main = join(installSignalbox(machine), 'dist/cli/main.js');

/** A project of a user whose Signalbox is installed elsewhere, as by `npm install -g`. */
function projectWith(telemetry = '{}'): string {
  const greet = '#!/bin/sh\necho \'{"result": "hello"}\'\n';
  const spec = `telemetry: ${telemetry}\ntools: {greet: {exec: {command: ./greet.sh}}}\n`;
  return folderOf({ 'runtime.yaml': config(spec), 'greet.sh': greet });
}

const runIn = async (cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  await start(args, { cwd, env }, [process.execPath, main]).ran;

async function doctorIn(cwd: string, env: Readonly<Record<string, string>> = {}) {
  const { stdout } = await runIn(cwd, ['doctor', '--json'], env);
  const { checks }: { checks: readonly Readonly<Record<string, unknown>>[] } = JSON.parse(stdout);
  return checks
    .filter(({ check }) => check === 'telemetry')
    .map(({ subject, status, message, hint }) => ({ subject, status, message, hint }));
}

test('packages that are missing change no call, and are named with the command that installs them', async () => {
  const cwd = projectWith();
  const { stderr, ...ran } = await runIn(cwd, ['tool', 'call', 'greet']);
  expect(ran).toEqual({ code: 0, stdout: 'hello\n' });
  const install = (names: string) => `npm install @opentelemetry/api@1.10.0 ${names}`;
  const named = exporters.map((name) => `${name}@0.301.0`);
  const reasons = exporters.map((name) => `${name} is not installed`);
  // Nobody could read the metrics of a command that ends.
  expect(stderr.replace(/^\S+ /, '')).toBe(
    `WARN: desk: telemetry: ${reasons[0]}. Run: ${install(String(named[0]))}\n`,
  );
  const { child, ran: served } = start(['serve', '--listen', '127.0.0.1:0'], { cwd }, [
    process.execPath,
    main,
  ]);
  if (child.stdout !== null) await once(child.stdout, 'data');
  child.kill();
  expect((await served).stderr).toContain(
    `telemetry: ${reasons.join(', and ')}. Run: ${install(named.join(' '))}"`,
  );
  const hint = `In ${cwd}, run: ${install(named.join(' '))}`;
  const without = 'are not exported by the command line:';
  expect(await doctorIn(cwd)).toEqual([
    { subject: 'traces', status: 'warning', message: `${without} ${reasons[0]}`, hint },
    { subject: 'metrics', status: 'warning', message: `${without} ${reasons[1]}`, hint },
  ]);
  const { stdout } = await runIn(cwd, ['doctor']);
  expect(stdout.split('\n').map((line) => line.trim())).toContain(install(named.join(' ')));
});

test('a package that is too old is not used', async () => {
  const cwd = projectWith('{metrics: false}');
  const folder = join(cwd, 'node_modules/@opentelemetry/exporter-trace-otlp-http');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"version": "0.57.2", "main": "index.js"}');
  writeFileSync(join(folder, 'index.js'), '');
  const { code, stderr } = await runIn(cwd, ['tool', 'call', 'greet']);
  expect(code).toBe(0);
  expect(stderr).toContain(
    `exporter-trace-otlp-http 0.57.2 (${folder}/index.js) is older than 0.301.0. Run: npm install`,
  );
});

test('packages in the project of the config are found, wherever Signalbox is', async () => {
  const cwd = projectWith();
  for (const name of exporters) linkPackage(cwd, name);
  installApi(cwd);
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(Buffer.concat(await request.toArray()).toString());
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SERVICE_NAME: 'desk' };
  expect(await runIn(cwd, ['tool', 'call', 'greet'], env)).toEqual({
    code: 0,
    stdout: 'hello\n',
    stderr: '',
  });
  server.close();
  const [{ resource, scopeSpans }] = JSON.parse(bodies.join()).resourceSpans;
  expect(scopeSpans[0].spans.map(({ name }: { name: string }) => name)).toEqual(['execute_tool greet']);
  expect(resource.attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'desk' } });
  expect(await doctorIn(cwd, env)).toEqual([
    {
      subject: 'traces',
      status: 'ok',
      message: `are sent to ${url}/v1/traces, by ${exporters[0]} 0.301.0`,
      hint: null,
    },
    {
      ...{ subject: 'metrics', status: 'ok', hint: null },
      message: `are served at /metrics of \`signalbox serve\`, by ${exporters[1]} 0.301.0`,
    },
    {
      ...{ subject: join(cwd, 'node_modules/@opentelemetry/api/dist/index.cjs'), status: 'ok', hint: null },
      message: '@opentelemetry/api 1.10.0: every copy sees an SDK that it registers',
    },
  ]);
});

test('the command line uses an SDK that `node --import` has registered', async () => {
  const cwd = projectWith('{metrics: false}');
  installApi(cwd);
  linkPackage(cwd, '@opentelemetry/sdk-trace');
  const register = `import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
process.on('exit', () => console.error(exporter.getFinishedSpans().map(({ name }) => name).join()));
`;
  writeFileSync(join(cwd, 'register.mjs'), register);
  const env = { NODE_OPTIONS: `--import ${join(cwd, 'register.mjs')}` };
  const ran = await runIn(cwd, ['tool', 'call', 'greet'], env);
  expect(ran).toEqual({ code: 0, stdout: 'hello\n', stderr: 'execute_tool greet\n' });
});

test('an SDK that fails changes no call, and is reported', async () => {
  const cwd = projectWith('{metrics: false}');
  installApi(cwd);
  const register = `import { trace } from '@opentelemetry/api';
trace.setGlobalTracerProvider({ getTracer: () => { throw new Error('no tracer today'); } });
`;
  writeFileSync(join(cwd, 'register.mjs'), register);
  const env = { NODE_OPTIONS: `--import ${join(cwd, 'register.mjs')}` };
  const { stderr, ...ran } = await runIn(cwd, ['tool', 'call', 'greet'], env);
  expect(ran).toEqual({ code: 0, stdout: 'hello\n' });
  expect(stderr).toMatch(/^\S+ WARN: desk: telemetry: nothing is exported: no tracer today\n$/);
});
