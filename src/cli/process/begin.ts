import { keepCompiledCode } from '../../base/files/compile-cache.ts';
import { printAtOnce } from './print-at-once.ts';

/** Answers what needs no program; else loads the program and runs it. */
export async function begin(): Promise<void> {
  if (printAtOnce(process.argv.slice(2))) return;
  // Before anything large is loaded.
  keepCompiledCode(process.env);
  const { runProcess } = await import('./run.ts');
  await runProcess();
}
