/** What is written for where no terminal says how wide it is. */
export const defaultColumns = 80;

/** Back to the beginning of the line, and nothing in it. Source: ECMA-48, EL. */
export const eraseLine = '\r\x1b[2K';
