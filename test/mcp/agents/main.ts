import { parseArgs } from 'node:util';
import { scenarios } from './scenarios.ts';

// npm run agents [-- WORDS]: Claude Code and Codex call tools of `signalbox mcp`; WORDS select scenarios by their title.
const { positionals } = parseArgs({ allowPositionals: true });
const print = (line: string) => void process.stdout.write(`${line}\n`);
for (const { title, client, play } of scenarios) {
  if (!title.toLowerCase().includes(positionals.join(' ').toLowerCase())) continue;
  print(`\n# ${title}`);
  if (client.program === '') {
    print(`skipped: ${client.title} is not installed`);
    continue;
  }
  try {
    await play(print);
    print('passed');
  } catch (error) {
    print(`FAILED: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
