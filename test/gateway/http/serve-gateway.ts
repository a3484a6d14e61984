import { openRuntime } from '../../../src/runtime/open-runtime.ts';
import { loadServer } from '../../../src/runtime/runtime.ts';
import { writeConfig } from '../open-gateway.ts';

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

export async function serveTestGateway(
  spec: string,
  files: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  const file = writeConfig(spec, files);
  const { serveRuntimes } = await loadServer();
  const served = await serveRuntimes({
    open: () => openRuntime(file, { log: false }),
    listen: '127.0.0.1:0',
    print: () => {},
  });
  return {
    url: served.url,
    port: Number(new URL(served.url).port),
    [Symbol.asyncDispose]: async () => void (await served.close()),
  };
}
