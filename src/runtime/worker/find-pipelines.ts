import { readFileSync } from 'node:fs';
import { glob } from 'tinyglobby';
import { loadPipeline } from '../../pipelines/file/load.ts';
import { buildTextOf } from '../../pipelines/run/new-run.ts';

/** The texts that tell the builds of the pipeline files that match a pattern, as seen from an absolute folder, by their absolute paths. */
export async function findPipelines(folder: string, pattern: string): Promise<ReadonlyMap<string, string>> {
  const ignore = ['**/node_modules/**', '**/.git/**', '**/.signalbox/**'];
  const files = await glob(pattern, { cwd: folder, absolute: true, expandDirectories: false, ignore });
  return new Map(files.toSorted().flatMap((file) => textOf(file).map((text) => [file, text] as const)));
}

/** None for a file that cannot be read: no run of it can be begun here either. */
function textOf(file: string): string[] {
  try {
    const text = readFileSync(file, 'utf8');
    // Most run no other, and need not be read as YAML.
    if (!/\bpipeline["']?\s*:/.test(text)) return [text];
    const { pipeline } = loadPipeline(file, undefined);
    return [pipeline === undefined ? text : buildTextOf(pipeline)];
  } catch {
    return [];
  }
}
