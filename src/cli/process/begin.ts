import { keepCompiledCode } from '../../base/files/compile-cache.ts';
import { askResident, printReply } from './ask-resident.ts';
import { printAtOnce } from './print-at-once.ts';

/** Answers --version, --help and events of agents without the program if possible; else loads and runs it. */
export async function begin(): Promise<void> {
  if (printAtOnce(process.argv.slice(2))) return;
  const asked = await askResident(process.argv.slice(2));
  // Everything is printed, and Node would first take apart what it has built.
  if (asked?.reply !== undefined) process.exit(printReply(asked.reply));
  // Must run before large imports.
  keepCompiledCode(process.env);
  const { runProcess } = await import('./run.ts');
  await runProcess(asked);
}
