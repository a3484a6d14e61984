import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { instance } from '@viz-js/viz';
import { edgesOf } from '../../test/architecture.ts';
import { readModules } from '../../test/source.ts';

/**
 * Fills and strokes by class, for light and dark pages. The background card also suits a page of the other color
 * scheme.
 */
const colours = {
  light: {
    ...{ text: '#1f2328', card: '#ffffff', border: '#d8dee4', line: '#57606a', plain: '#f3f5f7' },
    ...{ main: ['#ddeeff', '#0550ae'], allow: ['#dcf5e1', '#1a7f37'] },
    ...{ deny: ['#ffe5e3', '#b3261e'], wait: ['#fff3cd', '#8a6100'] },
  },
  dark: {
    ...{ text: '#e6edf3', card: '#161b22', border: '#30363d', line: '#9aa4af', plain: '#262c34' },
    ...{ main: ['#10305a', '#79b8ff'], allow: ['#12361f', '#56d364'] },
    ...{ deny: ['#4a1518', '#ff7b72'], wait: ['#3d2e00', '#e3b341'] },
  },
} as const;

function styleOf(scheme: keyof typeof colours): string {
  const { text, card, border, line, plain, ...classes } = colours[scheme];
  const shapes = (name: string) =>
    ['path', 'polygon', 'polyline'].map((shape) => `.${name} ${shape}`).join(', ');
  return [
    `text { fill: ${text}; }`,
    `.card { fill: ${card}; stroke: ${border}; }`,
    `${shapes('node')} { fill: ${plain}; stroke: ${line}; }`,
    `${shapes('outside')} { fill: ${card}; }`,
    ...Object.entries(classes).map(
      ([name, [fill, stroke]]) => `${shapes(name)} { fill: ${fill}; stroke: ${stroke}; }`,
    ),
    `.edge path { fill: none; stroke: ${line}; }`,
    `.edge polygon { fill: ${line}; stroke: ${line}; }`,
  ].join('\n');
}

const defaults = {
  graphAttributes: { pad: 0.15, bgcolor: 'transparent', fontname: 'Helvetica' },
  nodeAttributes: {
    shape: 'box',
    style: 'rounded,filled',
    fontname: 'Helvetica',
    fontsize: 15,
    margin: '0.12,0.07',
    height: 0.3,
  },
  edgeAttributes: { fontname: 'Helvetica', fontsize: 14, arrowsize: 0.8 },
};

/** Returns the pictures of docs/pictures, by file name. */
export async function drawPictures(imports = importsOfFolders()): Promise<Map<string, string>> {
  const graphviz = await instance();
  const sources = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.dot'));
  return new Map(
    sources.map((file) => {
      const name = basename(file, '.dot');
      const source = readFileSync(join(import.meta.dirname, file), 'utf8');
      const graph = name === 'folders' ? source.replace(/\}\s*$/, `${imports}}\n`) : source;
      return [`${name}.svg`, toPicture(graphviz.renderString(graph, { format: 'svg', ...defaults }))];
    }),
  );
}

/** Returns the imports between the folders of src as arrows. Transitive arrows are omitted. */
export function importsOfFolders(): string {
  const modules = readModules(join(import.meta.dirname, '../../src'));
  const imports = new Map<string, Set<string>>();
  const topOf = (file: string) => file.split('/', 1)[0] ?? '';
  for (const { from, to } of edgesOf(modules)) {
    const [one, other] = [topOf(from), topOf(to)];
    if (one !== other) imports.set(one, (imports.get(one) ?? new Set()).add(other));
  }
  const importedBy = (folder: string) => [...(imports.get(folder) ?? [])];
  const reachable = new Map<string, Set<string>>();
  const reachedFrom = (folder: string): Set<string> => {
    const known = reachable.get(folder);
    if (known !== undefined) return known;
    const reached = new Set(importedBy(folder).flatMap((each) => [each, ...reachedFrom(each)]));
    reachable.set(folder, reached);
    return reached;
  };
  return [...imports.keys()]
    .toSorted()
    .flatMap((folder) => {
      const implied = new Set(importedBy(folder).flatMap((each) => [...reachedFrom(each)]));
      return importedBy(folder)
        .filter((each) => !implied.has(each))
        .toSorted()
        .map((each) => `  "${folder}" -> "${each}"\n`);
    })
    .join('');
}

/** Converts Graphviz's output: adds a title, a card and the style, uses pixels, and removes comments and tooltips. */
function toPicture(svg: string): string {
  const [, title = ''] = /<title>(.*?)<\/title>/.exec(svg) ?? [];
  const [, width = '', height = ''] = /viewBox="0(?:\.00)? 0(?:\.00)? ([\d.]+) ([\d.]+)"/.exec(svg) ?? [];
  const content = svg
    .slice(svg.indexOf('<g '))
    .replaceAll(/<!--.*?-->\n?/gs, '')
    .replaceAll(/<title>.*?<\/title>\n?/g, '')
    .replaceAll(/ (?:font-family|fill|stroke)="[^"]*"/g, (attribute) =>
      attribute === ' fill="none"' ? attribute : '',
    );
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${Math.ceil(Number(width))}" height="${Math.ceil(Number(height))}" viewBox="0 0 ${width} ${height}">
<title>${title}</title>
<style>
svg { font-family: Helvetica, Arial, sans-serif; }
${styleOf('light')}
@media (prefers-color-scheme: dark) {
${styleOf('dark')}
}
</style>
<rect class="card" x="0.5" y="0.5" width="${Number(width) - 1}" height="${Number(height) - 1}" rx="8"/>
${content}`;
}
