// Counts the folders of src and their imports: `node test/tools/folders.ts`.
import {
  edgesOf,
  folders,
  importsFormNoCycle,
  importsPointUp,
  subfoldersFormNoCycle,
} from '../architecture.ts';
import { readModules } from '../source.ts';

const modules = readModules(new URL('../../src', import.meta.url).pathname);
const topOf = (file: string) => file.split('/', 1)[0] ?? '';
const needs = new Map(folders.map((folder) => [folder, new Set<string>()]));
for (const { from, to } of edgesOf(modules))
  if (topOf(from) !== topOf(to)) needs.get(topOf(from))?.add(topOf(to));

function layersBelow(folder: string): number {
  return 1 + Math.max(0, ...[...(needs.get(folder) ?? [])].map(layersBelow));
}

for (const folder of folders) {
  const own = modules.filter(({ file }) => topOf(file) === folder);
  const lines = own.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
  console.log(
    `${folder.padEnd(10)} ${String(own.length).padStart(5)} files ${String(lines).padStart(7)} lines`,
  );
}
const counted = {
  layers: Math.max(...folders.map(layersBelow)),
  'dependencies between folders': [...needs.values()].reduce((sum, each) => sum + each.size, 0),
  'imports from a lower folder': importsPointUp(modules).length,
  'import cycles': importsFormNoCycle(modules).length,
  'cycles of sub-folders': subfoldersFormNoCycle(modules).length,
};
for (const [name, count] of Object.entries(counted)) console.log(`${name}: ${count}`);
