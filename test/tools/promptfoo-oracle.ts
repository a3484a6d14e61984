import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';

// node test/tools/promptfoo-oracle.ts PROMPTFOO FOLDER… runs the promptfooconfig.yaml of each folder with the promptfoo
// installed in PROMPTFOO. Writes promptfoo.json beside it: whether each test passes, in order.

const [installed = '', ...folders] = process.argv.slice(2);
const { evaluate } = await import(
  pathToFileURL(join(installed, 'node_modules/promptfoo/dist/src/index.js')).href
);

for (const folder of folders) {
  process.chdir(folder);
  const config = parse(readFileSync('promptfooconfig.yaml', 'utf8'));
  const outcome = await evaluate(
    { ...config, writeLatestResults: false },
    { cache: false, maxConcurrency: 1 },
  ).catch((error: unknown) => ({ error: String(error) }));
  const { results } =
    typeof outcome.toEvaluateSummary === 'function' ? await outcome.toEvaluateSummary() : outcome;
  const passes = Array.isArray(results)
    ? results.toSorted((a, b) => a.testIdx - b.testIdx).map(({ success }) => success === true)
    : [];
  writeFileSync(join(folder, 'promptfoo.json'), JSON.stringify({ passes, error: outcome.error }));
}
process.exit(0);
