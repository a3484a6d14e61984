import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';

// node test/tools/promptfoo-stand-ins.ts FOLDER creates the missing files that promptfoo configs below a folder name,
// so that promptfoo-tally.ts ignores missing files. An import runs no programs, so any text will do.

/** Creates each missing file that the config names, and returns their number. */
export function makeStandIns(config: string): number {
  const folder = dirname(resolve(config));
  let made = 0;
  for (const [place, text] of textsOf(parse(readFileSync(config, 'utf8')), [])) {
    const name = nameIn(text, place);
    const file =
      name === undefined ? undefined : join(folder, name.replaceAll('**/', '').replaceAll('*', '1'));
    if (file === undefined || relative(folder, file).startsWith('..') || existsSync(file)) continue;
    const path = extname(file) === '' ? `${file}.yaml` : file;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contentOf(path, place));
    made += 1;
  }
  return made;
}

type Place = readonly string[];

function textsOf(value: unknown, place: Place): readonly (readonly [Place, string])[] {
  if (typeof value === 'string') return [[place, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => textsOf(member, [...place, key]));
}

/** The file that a text names: after `file://` anywhere, or without it where promptfoo reads a file. */
function nameIn(text: string, place: Place): string | undefined {
  const named =
    /^(?:file:\/\/|python:|golang:|exec:(?:python3? |node )?)(\.?[\w*][^\s:?]*|\.\/[^\s:?]+)/.exec(text);
  if (named?.[1] !== undefined) return named[1];
  const isPlain = place[0] === 'prompts' || place[0] === 'tests';
  return isPlain && place.length < 4 && /^[\w*./-]+\.\w+$/.test(text) ? text : undefined;
}

function contentOf(file: string, place: Place): string {
  const isPrompt = place[0] === 'prompts';
  const messages = '[{"role": "user", "content": "Tell me about {{topic}}."}]\n';
  switch (extname(file)) {
    case '.csv':
      return isPrompt
        ? 'prompt\nTell me about {{topic}}.\n'
        : 'topic,question,answer\nbees,What do bees make?,honey\n';
    case '.jsonl':
    case '.json':
      return isPrompt ? messages : '{"vars": {"topic": "bees"}}\n';
    case '.yaml':
    case '.yml':
      if (isPrompt || place.includes('rubricPrompt'))
        return '- role: user\n  content: Tell me about {{topic}}.\n';
      return place[0] === 'tests' && !place.includes('vars') ? '- vars: {topic: bees}\n' : 'bees\n';
    default:
      return 'Tell me about {{topic}}.\n';
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = process.argv[2] ?? '.';
  const configs = globSync('**/promptfooconfig*.{yaml,yml}', { cwd: folder }).toSorted();
  const made = configs.reduce((sum, config) => sum + makeStandIns(join(folder, config)), 0);
  console.log(`${configs.length} configs, ${made} files made`);
}
