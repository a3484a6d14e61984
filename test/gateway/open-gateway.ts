import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRuntime } from '../../src/runtime/open-runtime.ts';
import type { Gateway, Runtime, RuntimeOptions } from '../../src/runtime/runtime.ts';

export interface TestGateway extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly gateway: Gateway;
  readonly folder: string;
  /** Posts to a path of the gateway. A value that is not a string becomes JSON. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** Writes a RuntimeConfig with that `spec` and these files into a new folder; returns its path. */
export function writeConfig(spec: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o755 });
  const file = join(folder, 'runtime.yaml');
  const indented = spec.trim().replaceAll('\n', '\n  ');
  writeFileSync(file, `apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec:\n  ${indented}\n`);
  return file;
}

export async function openTestGateway(
  spec: string,
  files: Readonly<Record<string, string>> = {},
  options: RuntimeOptions = {},
): Promise<TestGateway> {
  const file = writeConfig(spec, files);
  const runtime = await openRuntime(file, { log: false, ...options });
  const gateway = runtime.gateway();
  return {
    runtime,
    gateway,
    folder: join(file, '..'),
    post: (path, body, headers = {}) =>
      gateway.fetch(
        new Request(`http://127.0.0.1${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      ),
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}

export function openaiProvider(url: string): string {
  return `{id: main, type: openai-compatible, model: m, base_url: "${url}/v1", credential: {credential_env: DESK_KEY}}`;
}
