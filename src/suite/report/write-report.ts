import { openFileSink } from './file-sink.ts';
import { type InputFile, refuseOverwriting } from './input-files.ts';

/**
 * Writes a report in one piece, which gets its name when it is done. Throws USAGE where it would be written over an input, and
 * FILE_UNREADABLE.
 */
export async function writeReport(
  file: string,
  text: string,
  { inputs }: { readonly inputs: readonly InputFile[] },
): Promise<void> {
  refuseOverwriting([file], inputs);
  const sink = await openFileSink(file, { grows: false });
  try {
    await sink.write(text);
    await sink.flush();
  } catch (thrown) {
    await sink.discard();
    throw thrown;
  }
  await sink.publish();
}
