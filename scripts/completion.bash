# Completion of the tools' options and files in bash: `source scripts/completion.bash`.
# The options are asked of the tools themselves, once each.
declare -gA _amsp_options

_amsp_complete() {
  local tool=$1 word=$2
  if [[ $word == -* ]]; then
    if [[ -z ${_amsp_options[$tool]-} ]]; then
      _amsp_options[$tool]=$("$tool" --help 2>/dev/null |
        sed -nE 's/^ +(-{1,2}[a-z][a-z0-9-]*).*/\1/p' | sed -E 's/^-?-/--/')
    fi
    mapfile -t COMPREPLY < <(compgen -W "${_amsp_options[$tool]}" -- "--${word##*(-)}")
  else
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}

shopt -s extglob
complete -F _amsp_complete amsp-opt amsp-compile amsp-plan amsp-profile amsp-run
