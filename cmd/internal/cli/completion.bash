
# The words of the line up to the cursor, where the bash-completion package is missing.
# Bash breaks words at = and :, here they stay whole: a word begins after a blank.
__leadlight_init_completion()
{
    local line=${COMP_LINE:0:$COMP_POINT} word i
    COMPREPLY=() words=() cword=-1
    for ((i = 0; i <= COMP_CWORD; i++)); do
        [[ $i -gt 0 && $line != [[:blank:]]* ]] || cword=$((cword + 1))
        line=${line#"${line%%[![:blank:]]*}"}
        word=${COMP_WORDS[i]}
        [[ $i -lt $COMP_CWORD ]] || word=$line
        words[cword]+=$word
        line=${line#"$word"}
    done
    cur=${words[cword]} prev=
    [[ $cword -eq 0 ]] || prev=${words[cword - 1]}
}

# Folders (-d), or also files whose names end with one of the words a|b|, as that package
# offers them.
declare -F _filedir >/dev/null || _filedir()
{
    local name
    compopt -o filenames 2>/dev/null
    while IFS= read -r name; do
        [[ -d $name || $1 != -d && $name =~ \.(${1%|})$ ]] && COMPREPLY+=("$name")
    done < <(compgen -f -- "$cur")
}
