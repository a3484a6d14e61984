import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openRuntime, type RuntimeEvent } from '../../../src/index.ts';
import { folderOf } from '../../cli/command-line.ts';

interface Provider {
  readonly hasKey: boolean;
  readonly fallback: number | undefined;
}

async function ask(providers: readonly Provider[], served: readonly number[]) {
  const folder = folderOf({
    'runtime.yaml': JSON.stringify({
      apiVersion: 'signalbox/v1',
      kind: 'RuntimeConfig',
      spec: {
        state_store: { type: 'memory' },
        providers: providers.map(({ fallback }, index) => ({
          ...{
            id: `p${index}`,
            type: 'openai',
            model: `m${index}`,
            credential: { credential_env: `KEY_${index}` },
          },
          ...(fallback !== undefined && fallback > index && { fallback: [`p${fallback}`] }),
        })),
        gateway: {
          models: Object.fromEntries(served.map((index) => [`m${index}`, { provider: `p${index}` }])),
        },
      },
    }),
  });
  const keys = providers.flatMap(({ hasKey }, index) => (hasKey ? [[`KEY_${index}`, 'secret-key']] : []));
  const events: RuntimeEvent[] = [];
  await using runtime = await openRuntime(`${folder}/runtime.yaml`, {
    log: false,
    env: { PATH: '', ...Object.fromEntries(keys) },
    onEvent: (event) => events.push(event),
  });
  const response = await runtime.gateway().fetch(new Request('http://127.0.0.1/readyz'));
  const notes = events.flatMap((event) => (event.type === 'note' ? [event.message] : []));
  return { status: response.status, body: await response.text(), notes: notes.join('\n') };
}

test('a gateway is ready only if some model has a provider with a key, and it names those without', async () => {
  const provider = fc.record({ hasKey: fc.boolean(), fallback: fc.option(fc.nat(2), { nil: undefined }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(provider, { minLength: 3, maxLength: 3 }),
      fc.uniqueArray(fc.nat(2), { minLength: 1 }),
      async (providers, served) => {
        const chain = (index: number): number[] => {
          const next = providers[index]?.fallback ?? -1;
          return [index, ...(next > index ? chain(next) : [])];
        };
        const used = new Set(served.flatMap(chain));
        const unusable = [...used].filter((index) => providers[index]?.hasKey === false);
        const { status, body, notes } = await ask(providers, served);
        expect(status).toBe(unusable.length === used.size ? 503 : 200);
        for (const index of [0, 1, 2]) {
          expect(body.includes(`"p${index}"`)).toBe(unusable.includes(index));
          expect(notes.includes(`KEY_${index}`)).toBe(unusable.includes(index));
          expect(body).not.toContain('KEY_');
        }
      },
    ),
    { numRuns: 20 },
  );
});
