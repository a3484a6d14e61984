// Writes calls until it is killed or has written enough. Prints the id of each recorded call, and each failure.
import { openAudit, recordOf } from './audit-log.ts';

const [place = '', name = '', count = 'Infinity', size = '0'] = process.argv.slice(2);
const log = await openAudit(place, { keepsContent: size !== '0', warn: () => {} });
const content = { request: 'x'.repeat(Number(size)), answer: '' };

async function writeOn(writer: number): Promise<void> {
  for (let at = 0; at < Number(count); at += 1) {
    const id = `${name}_${writer}_${at}`;
    await log.write(recordOf({ id, content }));
    process.stdout.write(`${id}\n`);
  }
}

try {
  await Promise.all([writeOn(0), writeOn(1), writeOn(2)]);
} catch (error) {
  process.stdout.write(`refused ${JSON.stringify(Reflect.get(Object(error), 'refusal'))}\n`);
  const again = await log.ensureWritable().catch((refused: unknown) => refused);
  process.stdout.write(`then ${Reflect.get(Object(again), 'name') ?? 'writable'}\n`);
}
await log.close();
