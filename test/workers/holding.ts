import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { openRuntime, type Runtime } from '../../src/index.ts';
import { openProject, type Project } from './project.ts';

export interface Holding {
  readonly project: Project;
  readonly file: string;
  /** Whether the previous step is in the journal and the waiting step has started. */
  isHeld(): boolean;
  goOn(): void;
}

export function openHolding(): Holding {
  const hold = `    hold: {idempotent: true, exec: {command: sh, args: ["-c", "cat > /dev/null; touch held; until [ -e go ]; do sleep 0.1; done; echo '{\\"result\\": {}}'"], timeout_ms: 600000}}\n`;
  const project = openProject({ tools: hold });
  const file = project.pipeline(
    'holding',
    `  steps:
    - {id: first, tool: note, args: {key: first}}
    - {id: hold, tool: hold, args: {}}
    - {id: last, tool: note, args: {key: last}}
`,
  );
  const go = join(project.folder, 'go');
  onTestFinished(() => {
    if (!existsSync(go)) writeFileSync(go, '');
  });
  return {
    ...{ project, file },
    isHeld: () => existsSync(join(project.folder, 'held')),
    goOn: () => writeFileSync(go, ''),
  };
}

export async function openDesk(config: string, url: string): Promise<Runtime> {
  const runtime = await openRuntime(config, { log: false, env: { ...process.env, DATABASE_URL: url } });
  onTestFinished(() => runtime.close());
  return runtime;
}

/** Resolves to the elapsed milliseconds. Throws if the condition never holds. */
export async function until(isSo: () => Promise<boolean>, most = 400): Promise<number> {
  const beganAt = performance.now();
  for (let tries = 0; tries < most; tries += 1) {
    if (await isSo()) return Math.round(performance.now() - beganAt);
    await sleep(100);
  }
  throw new Error(`it did not come to that within ${most / 10} s`);
}
