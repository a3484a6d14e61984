export interface Gap {
  readonly kind: '-' | '.' | ' ' | '';
  readonly hasLineBreak: boolean;
}

export function readGap(between: string): Gap | undefined {
  if (between.length > 6) return undefined;
  const sign = /^ {0,2}([-.]?)\1? {0,2}(\r?\n {0,2})?$/.exec(between);
  if (sign === null || between === '') return undefined;
  const isBreak = sign[2] !== undefined;
  const mark = sign[1] ?? '';
  if (mark === '-' || mark === '.') return { kind: mark, hasLineBreak: isBreak };
  return { kind: isBreak ? '' : ' ', hasLineBreak: isBreak };
}
