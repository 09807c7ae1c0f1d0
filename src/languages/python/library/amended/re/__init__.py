# Both without a pattern, so that the parser of patterns is loaded when one is compiled.
#- type(_compiler.compile('', 0).match(''))
#+ _sre.Match
#- type(_compiler.compile('', 0))
#+ _sre.Pattern
