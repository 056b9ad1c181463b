/* Words of commands that are copied into a shell. */

/** The word as a shell reads it back: in quotes unless all its characters stand for themselves. */
export function shellWord(word: string): string {
    return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
