import { keepCompiledCode } from '../../base/files/compile-cache.ts';
import { printAtOnce } from './print-at-once.ts';

/** Answers --version and --help without the program if possible; else loads and runs it. */
export async function begin(): Promise<void> {
  if (printAtOnce(process.argv.slice(2))) return;
  // Must run before large imports.
  keepCompiledCode(process.env);
  const { runProcess } = await import('./run.ts');
  await runProcess();
}
