import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  hasPostgres,
  programOf,
  startServer,
  type TestServer,
  unlessMissing,
} from '../store/postgres/server.ts';
import { openDesk, until } from './holding.ts';
import { openProject } from './project.ts';
import { runProgram, startWorker } from './worker-process.ts';

describe.runIf(hasPostgres)(`a backup of a store in Postgres${unlessMissing}`, () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server?.remove());

  test('a pg_dump continues in another database, with waiting runs and unstarted runs', async () => {
    const [from, to] = [await server.newUrl(), await server.newUrl()];
    const project = openProject();
    const file = project.pipeline('refund', refund);
    const detach = ['run', file, '--config', project.config, '--detach', '--json'];
    const worker = await startWorker(project.config, { url: from });
    const first = JSON.parse((await runProgram(detach, { url: from })).stdout).run_id;
    const desk = await openDesk(project.config, from);
    await until(async () => (await desk.runs.show(first)).status === 'pending');
    worker.child.kill('SIGTERM');
    await worker.ended;
    const second = JSON.parse((await runProgram(detach, { url: from })).stdout).run_id;
    const dump = join(project.folder, '..', 'signalbox.dump');
    const schemas = ['--schema=signalbox', '--schema=signalbox_jobs'];
    execFileSync(programOf('pg_dump'), ['--format=custom', ...schemas, `--file=${dump}`, from]);
    expect(existsSync(dump)).toBe(true);
    execFileSync(programOf('pg_restore'), ['--clean', '--if-exists', `--dbname=${to}`, dump]);

    const restored = await openDesk(project.config, to);
    await startWorker(project.config, { url: to });
    await until(async () => (await restored.runs.show(second)).status === 'pending');
    for (const { id } of await restored.pending.list()) await restored.pending.approve(id, { by: 'ada' });
    for (const run of [first, second])
      await until(async () => (await restored.runs.show(run)).status === 'completed');
    expect(project.effects().toSorted()).toEqual(['ask', 'ask', 'first', 'first', 'last', 'last']);
    expect((await desk.runs.show(first)).status).toBe('pending');
  });
});

const refund = `  steps:
    - {id: first, tool: note, args: {key: first}}
    - {id: ask, tool: note_with_consent, args: {key: ask}}
    - {id: last, tool: note, args: {key: last}}
`;
