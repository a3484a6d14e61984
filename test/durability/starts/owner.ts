import { setTimeout as sleep } from 'node:timers/promises';
import { toFault } from '../../../src/base/errors.ts';
import { isObject } from '../../../src/base/json/json.ts';
import { fitsAnything } from '../../../src/base/yaml/schema-check.ts';
import type { NativeLink } from '../../../src/calls/hooks/links.ts';
import { scored, unscored } from '../../../src/contract/eval.ts';
import type { Reply } from '../../../src/contract/exchange.ts';
import { snakeCase } from '../../../src/dialects/promptkit/casing.ts';
import { toolCodec } from '../../../src/dialects/promptkit/dialect.ts';
import { createHookCodec } from '../../../src/dialects/promptkit/hook.ts';
import { requirePipelineText } from '../../../src/pipelines/file/load.ts';
import type { RunsContext } from '../../../src/pipelines/run/runs.ts';
import type { OfferedTool } from '../../../src/pipelines/state/run-context.ts';
import { createPool, withPool } from '../../../src/process/pool.ts';
import type { Transport } from '../../../src/process/transport.ts';
import type { Store } from '../../../src/store/store.ts';
import { bind } from '../../process/harness.ts';
import type { World } from './world.ts';

export const pipeline = requirePipelineText(
  {
    file: '/model.pipeline.yaml',
    text: `
apiVersion: signalbox/v1
kind: Pipeline
metadata: {name: model}
spec:
  runtime: ./runtime.yaml
  steps:
    - {id: loop, for_each: {items: "\${[0, 1, 2, 3]}", concurrency: 4}, tool: once, args: {i: "\${item}"}}
    - {id: judged, eval: tone, content: "\${run.id}"}
    - {id: asked, tool: asks, args: {i: 9}, on_error: continue}
    - {id: again, for_each: {items: "\${[0, 1]}", concurrency: 2}, tool: again, args: {i: "\${item}"}}
`,
  },
  undefined,
);

export interface Owner {
  readonly name: string;
  readonly context: RunsContext;
  freeze(): void;
  thaw(): void;
}

export function openOwner(name: string, world: World, given: Store): Owner {
  let thawed: PromiseWithResolvers<void> | undefined;
  const pause = async (): Promise<void> => {
    while (thawed !== undefined) await thawed.promise;
  };
  const store = world.watch(name, given, pause);
  const pool = createPool(1);
  const emit = () => {};
  const portOf = (entry: string, start: (body: unknown) => string) => {
    const transport: Transport = {
      exchange: async ({ body, requireStart }): Promise<Reply> => {
        // Starting a server takes time, during which this process may be paused.
        await sleep(6);
        await pause();
        requireStart?.();
        const stdout = Buffer.from(start(JSON.parse(body)));
        // Long enough for others to wait for the slot.
        await sleep(6);
        await pause();
        return { via: 'process', exitCode: 0, signal: null, stdout, stderr: '' };
      },
      warm: () => {},
      close: async () => {},
    };
    const binding = bind('hang.sh', { name: entry });
    return { binding, emit, transport: withPool(transport, binding, pool) };
  };
  const filter: NativeLink = {
    ...{ name: 'guard', dialect: 'promptkit', kind: 'tool', phases: ['before_execution', 'after_execution'] },
    listener: {
      mode: 'filter',
      port: {
        ...portOf('guard', () => {
          world.begin({ owner: name, what: 'filter' });
          return '{"allow": true}';
        }),
        mode: 'filter',
        codec: createHookCodec(snakeCase),
      },
    },
  };
  const toolOf = (tool: string, reply: string, more: Partial<OfferedTool> = {}): OfferedTool => ({
    ...{
      name: tool,
      description: '',
      inputSchema: undefined,
      checkArgs: fitsAnything,
      checkResult: fitsAnything,
    },
    links: [filter],
    port: {
      ...portOf(tool, (body) => {
        const { args, approval } = isObject(body) ? body : {};
        const key = `${tool}-${isObject(args) ? args['i'] : ''}`;
        world.begin({ owner: name, what: 'tool', key, mayRepeat: more.idempotent !== false });
        return approval === undefined ? reply : '{"result": "approved"}';
      }),
      codec: toolCodec,
    },
    ...more,
  });
  const evals = portOf('tone', () => {
    world.begin({ owner: name, what: 'eval' });
    return '{"score": 1}';
  });
  const tools = [
    toolOf('once', '{"result": 1}', { idempotent: false }),
    toolOf('again', '{"result": 1}'),
    toolOf('asks', '{"pending": {"reason": "money", "message": "pay?"}}'),
  ];
  const nobody = () => {
    throw new Error('the pipeline of the model asks no model');
  };
  return {
    name,
    freeze: () => {
      thawed ??= Promise.withResolvers<void>();
    },
    thaw: () => {
      thawed?.resolve();
      thawed = undefined;
    },
    context: {
      store,
      config: '/runtime.yaml',
      isDurable: true,
      services: {
        tools: new Map(tools.map((tool) => [tool.name, tool])),
        model: nobody,
        modelOf: nobody,
        score: async ({ signal }) => {
          const timing = { durationMs: 0, queueMs: 0 };
          try {
            await evals.transport.exchange({ method: 'execute', body: '{}' }, signal);
            return { outcome: scored(1, ''), passed: true, stderr: '', ...timing };
          } catch (error) {
            const fault = toFault(error);
            return { outcome: unscored(fault.message, fault), passed: false, stderr: '', ...timing };
          }
        },
        fire: nobody,
        links: [],
        takeLateContext: () => [],
        notifySession: async () => {},
        emit,
        readEnv: () => ({}),
      },
    },
  };
}
