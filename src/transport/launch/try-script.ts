import { execFile } from 'node:child_process';

/** Whether a line for a shell ends well, with no environment and within `timeoutMs`. Never rejects. */
export function tryScript(script: string, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { cwd: '/', env: {}, timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
    execFile('/bin/sh', ['-c', script], options, (error) => resolve(error === null));
  });
}
