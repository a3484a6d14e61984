export interface ShellWord {
  readonly text: string;
  readonly isExpanded: boolean;
}

/** The words of a simple command, without redirections; undefined for a line with more than one command. */
export function splitLine(line: string): ShellWord[] | undefined {
  const words: ShellWord[] = [];
  let rest = line.trim();
  while (rest !== '') {
    const redirection = /^\d*(?:>>|>|<)&?\s*/.exec(rest)?.[0];
    if (redirection !== undefined) rest = rest.slice(redirection.length);
    const word = takeWord(rest);
    if (word === undefined) return undefined;
    if (redirection === undefined) words.push(word);
    rest = rest.slice(word.length).trimStart();
  }
  return reserved.has(words[0]?.text ?? '') ? undefined : words;
}

const reserved: ReadonlySet<string> = new Set(
  '{ ! [[ if for while until case select function time coproc'.split(' '),
);

function takeWord(text: string): (ShellWord & { readonly length: number }) | undefined {
  const pieces = /^(?:'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s'"\\;&|()<>#]|(?<=\S)#)+/.exec(text);
  const [raw] = pieces ?? [];
  if (raw === undefined || /^["'\\;&|()<>]/.test(text.slice(raw.length))) return undefined;
  let isExpanded = false;
  const plain = raw.replaceAll(/'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^'"\\]+)/g, unquote);
  return { text: plain, isExpanded, length: raw.length };

  function unquote(_all: string, single?: string, double?: string, escaped?: string, bare?: string): string {
    if (single !== undefined) return single;
    if (escaped !== undefined) return escaped;
    isExpanded ||= /[$`]/.test(double ?? '') || /[$`*?[\]~{}]/.test(bare ?? '');
    return bare ?? (double ?? '').replaceAll(/\\(["\\$`])/g, '$1');
  }
}

/** The variables that a shell line reads outside single quotes, except those that it sets and those in `given`. */
export function variablesOf(line: string, given: readonly string[]): string[] {
  const open = line.replaceAll(
    /\\[\s\S]|'[^']*'|"((?:[^"\\]|\\[\s\S])*)"/g,
    (_all, double?: string) => double?.replaceAll(/\\[\s\S]/g, ' ') ?? ' ',
  );
  const read = [...open.matchAll(/\$(?:\{[#!]?)?([A-Za-z_]\w*)/g)].map(([, name = '']) => name);
  const set = new Set(
    [...open.matchAll(/(?:\bfor\s+|\bread\s+(?:-\w+\s+)*|(?<![\w$])(?=\w+=))([A-Za-z_]\w*)/g)].map(
      ([, name]) => name,
    ),
  );
  return [...new Set(read)].filter(
    (name) => !set.has(name) && !given.includes(name) && !isSetByEnvironment(name),
  );
}

function isSetByEnvironment(name: string): boolean {
  return /^(?:PWD|OLDPWD|IFS|PPID|RANDOM|SECONDS|LINENO|SHLVL|E?UID|HOSTNAME|OPTARG|OPTIND|REPLY|BASH(?:_\w+)?|PATH|HOME|LANG|LC_\w+|TZ|TMPDIR|USER)$/.test(
    name,
  );
}

export function toShellLine(words: readonly string[]): string {
  return words.map(quote).join(' ');
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
