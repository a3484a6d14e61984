import { expect, test, vi } from 'vitest';
import { answers } from '../../src/contract/hook.ts';
import { listCells } from './cells.ts';
import { allFaults } from './faults/index.ts';
import { runMatrix } from './run-matrix.ts';

// A decoder that reads everything as an allow.
vi.mock(import('../../src/dialects/promptkit/hook.ts'), async (load) => {
  const sound = await load();
  return {
    ...sound,
    createHookCodec: (casing) => ({
      ...sound.createHookCodec(casing),
      decode: () => ({ output: answers.allow(), notes: [] }),
    }),
  };
});

// Rules that ignore `on_failure: deny`.
vi.mock(import('../../src/dialects/failed-open.ts'), async (load) => {
  const sound = await load();
  return { ...sound, failOpen: (entry, ...rest) => sound.failOpen({ ...entry, onFailure: 'own' }, ...rest) };
});

test.each([
  ['ends quietly when it has read', 'filter before_call promptkit oneshot native'],
  ['ends quietly within its reply', 'filter after_execution promptkit-go warm portable'],
  ['exits with code 1 when it has read', 'filter pre_tool chibi on_failure: deny oneshot native'],
  ['hangs when it has read', 'filter before_llm picoclaw on_failure: deny server native'],
])('a decoder that is open makes the matrix fail: %s | %s', async (fault, target) => {
  const cells = listCells(allFaults).filter((cell) => cell.fault.id === fault && cell.target.id === target);
  const { results } = await runMatrix(cells);
  expect(results.map(({ word }) => word)).toEqual(['OPEN']);
});
