// The parser of Markdown, apart from the page: only lessons and pages need it.

export { lexer } from 'marked';
