import { damagesOf } from '../../damage.ts';
import { type Content, namesLike, text } from './printed.ts';

const words = [
  '',
  'Allow',
  'ALLOW',
  ' allow',
  'allow\n',
  'allow\0',
  'yes',
  'ok',
  'permit',
  'Deny',
  'deny ',
  'BLOCK',
  'true',
  'null',
  'аllow',
  'continue',
  'approve',
  'deny',
  'block',
];
const others = [
  '"true"',
  '"false"',
  '"yes"',
  '1',
  '0',
  '-0',
  '1e999',
  'true',
  'false',
  '[true]',
  '{"value": true}',
];

export function changed(answer: string): Content[] {
  const contents = [...damagesOf(answer)].map(({ title, text: value }) => text(title, value));
  for (const { path, value } of membersIn(JSON.parse(answer), [])) {
    const replaced = (to: string) => put(answer, path, to);
    const name = String(path.at(-1));
    contents.push(
      ...namesLike(name).map((like) =>
        text(
          `${path.join('.')} as ${JSON.stringify(like)}`,
          instead(answer, path, `${JSON.stringify(like)}:${JSON.stringify(value)}`),
        ),
      ),
    );
    contents.push(...others.map((each) => text(`${path.join('.')} = ${each}`, replaced(each))));
    if (typeof value === 'string')
      contents.push(
        ...words.map((each) =>
          text(`${path.join('.')} = ${JSON.stringify(each)}`, replaced(JSON.stringify(each))),
        ),
      );
  }
  return [...contents, ...doubled(answer)];
}

function doubled(answer: string): Content[] {
  const paths = [...membersIn(JSON.parse(answer), [])];
  return paths.flatMap(({ path, value }) => {
    const own = JSON.stringify(value);
    const name = String(path.at(-1));
    const twins = [own, own === 'true' ? 'false' : 'true', '"deny"', '"allow"', 'null'];
    return twins.flatMap((twin) =>
      [name, name.toUpperCase()].flatMap((other) => [
        text(
          `${path.join('.')} behind "${other}": ${twin}`,
          instead(answer, path, `${JSON.stringify(other)}:${twin},${JSON.stringify(name)}:${own}`),
        ),
        text(
          `${path.join('.')} before "${other}": ${twin}`,
          instead(answer, path, `${JSON.stringify(name)}:${own},${JSON.stringify(other)}:${twin}`),
        ),
      ]),
    );
  });
}

type Path = readonly (string | number)[];

function* membersIn(value: unknown, path: Path): Generator<{ readonly path: Path; readonly value: unknown }> {
  if (typeof path.at(-1) === 'string') yield { path, value };
  if (typeof value !== 'object' || value === null) return;
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  for (const key of keys) yield* membersIn(Reflect.get(value, key), [...path, key]);
}

const mark = 'a mark that stands nowhere else';

function put(answer: string, path: Path, to: string): string {
  const root: unknown = JSON.parse(answer);
  const parent = path.slice(0, -1).reduce<unknown>((value, key) => Reflect.get(Object(value), key), root);
  Reflect.set(Object(parent), path.at(-1) ?? '', mark);
  return JSON.stringify(root).replace(JSON.stringify(mark), () => to);
}

function instead(answer: string, path: Path, members: string): string {
  const name = JSON.stringify(path.at(-1));
  return put(answer, path, mark)
    .replace('"'.concat(mark, '"'), () => mark)
    .replace(`${name}:${mark}`, () => members);
}

export function joined(answers: readonly string[]): Content[] {
  const contents: Content[] = [];
  for (const one of answers)
    for (const other of answers) {
      if (one === other) continue;
      const merged = { ...JSON.parse(one), ...JSON.parse(other) };
      contents.push(text(`${one} with the members of ${other}`, JSON.stringify(merged)));
      if (one !== '{}' && other !== '{}')
        contents.push(text(`${one} and ${other} in one object`, `${one.slice(0, -1)}, ${other.slice(1)}`));
    }
  return contents;
}
