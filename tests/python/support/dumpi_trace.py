"""A DUMPI trace of four ranks of tests/python/programs/exchanges.c, run by MPICH 5.0 on one machine.

The bytes are those that libdumpi of sst-dumpi 13.0.0 (commit a4c8bf5 of its repository) wrote, linked to the program:
the four files one behind the other, compressed, as text.
"""

from __future__ import annotations

import base64
import lzma
from pathlib import Path

RANKS = 4
STEM = "dumpi-2026.11.29.06.07.53"
_SIZES = (5649, 5267, 5345, 5273)
_FILES = (
    "T>t<81poj4|NsC0{{Vlgm!v|zi+qM7Ax}|Q%h;!;{X%U!#3Lyuq$-"
    "hF?^K$rpWgIO6kErbvy@(4g4F9U#y62y9puz~XtY`MEYlLsgb&o4Ov{|Mz8T4%oF2^k;!QY>@PC+{U&h-"
    "L1w}O_@xe!xK;GO@$T8{t1)<lM66c8qjll#3LSet&xrtrF1_%;frU-(FX>LR|&-E^?!lyvX1f5DQjxULCCB*T)<VbDlOXUYGQtTRdGTLL?m7=S-"
    "N5aIbWO2--1!{l@>8t@yEwAYlZUw<U4SpQm@%#3eup73i;2O2CZgzen?pVwS!*o+yXVyH`IG5h7z;))fnVHQ8^ush74oOi2BHTxNa5%SA%)n>*XL5W"
    "im_@x!?{Rdf$p_H{vd0U;LbyyEyyqX;y>I{13)AftyBu5iPRsGa-"
    "z!!(?U)IuXVrPr>pcGoZw<@+b}+p4r^$a?^AdIHf!pe@JwI+jRaj%~Y>={Aw}pJ>Qj2AW)2aG{SCHRGaUV@<yXrio1ELkaPvttbo<&KRdI^xT3I9^_"
    "Z=49hbqgO7XIf2TPE_?%xFaxn5$liVABqS5p>nm~GKkr5cqcCKvpEGpx|=mU4Bo5V8#fPEchg3DljKb9$4LjnOx@|d#;yhvi;@xI%pYlN=-"
    "&Vrj+uU?`=Ca{JP#+?fFNT_!1!6rm+$-HfyF{QKtJ6FR-"
    "3EURj)JnO%p!QfAZWmfc3#sw?=%y5B<b>Fjve!%D}$jUWWPu5aU??cfVrc7?i3aCX_aOv{sL?;$uMbonG7a5Z975%H;;Us3InUyP@%w`~v}!&j-"
    "YIS(MmXCyi}Q`nc7b0du>7ud3*&`}E=wyUQ7t6b`jOyZV6iADwOTnBPY(o>lC}C};gUqtpa-"
    "z5`oi(eky*2v&CAqr&+C8d`6F_Kn8ZB7%&SNblSumM6Zx>+z{#C9v0)8_DPBk-$lfHs4)TA1%-+QEU+74*ujOgw0qowDd%U0O9E9_^<7nO#-"
    "+*CZQ8ArG-IRf|o4z@Z8kL&E<Ts<#hPK@Yj+kAIy5apF=L^7S{m<=%V)9B0TU>(gE$N0<*HM1beV-"
    "{@ZRK%~Dy6drR_^e$me1qD<hynxu0<!odGB)AElICp4fFp>GZle@m3!j$_zZNQ7s(aS@1Tg^W6LsN58V*EThtZ5*%5oo1+r>t&iH6wlGfhf=IVLpg4"
    "Kl<nuu(&>T30-l)^bx-"
    "<GGKq#&Yfo#|Z)3IH=}tNFe}0}&&cWP!TF5MMO`c*K0e(H6!z=^}MII#DojMnjL<NalmFJuL5$G#$Q;8pmpLeUb$M$6EQMbxVScxpbxhoN}4*;oZPl"
    ">EC4<^cn$(jg?{26oWQ&d##xt{U#dcCJVhfhYg%t@S+1e2Nm{;UM*LyQ@0K=^@ESo0R5@DTpE8k+Ny_)5;?H#{8Ml8+rYyHQ~eji7=D?HKA*D*)!oB"
    "WDP`(>O6VAVuk=s)G5jSJ!)Y-QIiNx(JR~m7Km&rO>#|pJQR}|BfHC-"
    "#s6a_W{i#ia}#Iju@a4vk4khlQ~As**?@BneNSn0_{^!bn7KR+_(vnb$75>NOnPC^n@0%dmTdz<0hy?)8Ahg=xoNpgG!GSdRauN#fW8X)n~Y@e{3~V"
    "M-"
    "I%uN~%1KpX0i&N&w}G2j`^pq9{LrU53B>f6Tu(r<bMG%Fo8;TOQMa^2ItxCEFu>5;`}VI$*I7i;u1jzwTmH#zos%M1V=apVcevs75}ClC)z;pcl?JT"
    "K#~OY%k<lS-)S;;x@B2K#wKM3PjGv8Ce95L(%hfErRv3JenB!IyREQ=Kp<j=k>{aQEZ(o@$`Bq#ymf-!11l-"
    "pN^UJ+waFLK`ZKF#tyw(hX2vurN*95m_)nnj`4K-g&z&xZR;NAE-"
    "T%ll}}5iA8upZk=s5Q*@6KZw6dgXIkKBC1@J<Y8%lzrc74?ECoUD7+Vahk#C7AmNKDU6%uwF9#Hq+Z-=u0JD$WT9Sz{?ikdXs8nZ{@-"
    "I1KEy<E~%VA1DtLzHrSCr^*zMh$d{a$HhXHU8^^>YHJ1(LlR254?-wH<UN!p&*3;%-OB@UodRZUk-g;Id%-mF)>u64m3n=s=NTZ8x~?Ff<i-"
    "s`A0Q0BifuElMjUS$_w7(Jft?iD>!aJ@dhT&1(SAk#b0eDs*!87~2X$t$MZBeS>e-hIz4}M~iSW-"
    "&l@RPtRLsWyCVM>>HFnnPnyHlf{TvGzwcT`G)IPZFXY)Lf7AC75Z0Wef(Wu*@2+dSX_kQ0_Z<B~1g{FVSY`^NlJXXB=?D#457Ar=Nd5q-"
    "m`vCgRILJ*)@LvOQ=kTVx=7L9R5dP74gb$R(@(QnB`tuH~DZSluaw&0SC?M}5GtYjcdiNC`bUrL(T6WLiuQ5+y6(rQ@d+{zbYmS64JU^6t>?MOXBpM"
    "iX6cy^<P=6=T-GK#S#oUz}N97O(<){wi$#nZR5R{O7<^v=ThdBNF!TbU_u-"
    "@62PW)j>cv*zI`2t!yw)w|Ar3D&=l#V8bUDxf!CuM|R)v)YmxJ@3EdMdFsf!nT-2ZT|pnV%vV-pT^=Zj->Sx6ID2Ycu%xtIrK9JpDG7)IvX2y^s-"
    "znSTN%L|gk!!$KYp-1&^tTpKLyikjH)SiN+9#xI{?Bvxzux$5q>q78xtB$KExxa|i|@BTT$sk<IsAD?VoFhmp`eC=8t%;1^&TY!j-"
    "RWV(jsw@&7{^6vP-"
    "I+6F+)5@~#(n@Qr0<?d+&2hyQ)|xwH|5#nX$q#fF~Sj<n2zGU+n&ely+$M%sA#!&g};TkZfnCFoOn$%v3_LV6gBZqv~%~O<*v4e10#Q|eoh>$JsdQu"
    "k13g6L@axf(tadxBa96FPBCY`Z|@Jj?Q%JtGn%#czs(EUEqbe}j}6|Gi{#C79R1|1QRk;PsiA6mr0i42<<HcqjBx~flz`9$!DXZdq}gzo9J=q?el|}"
    "BwvCS2Z**|IxQ#TgHtW#IT$AJW|I?RP$83hclWLuAo&;gXcrwS-*9*k(t`;Q2V7<eGe9tPQ7!P4C2!p{H=MFN|_2#(=m!9%>1-"
    "|lVkT0=U>{JF^n;2MgV=2)#=x<0rndkf!$?XxG0Yo8&`(sW&|5%snR-QZpGr_cW4*$x~q%2>`>uoljC{sSv_&n~}Vr&~>WRzl3cKQKm?;8m+P(%`K&"
    "Sx!sNBsm1t||qCDLfVW-"
    "%X7oNMZsq%T)!Lq<2qlbHg&P9fozEPR3&@u3fG1|JnH&tsQVVs+;k0F{iM?L^w{g@f1{8h**~Q+aB4nl2M*6<z%AadB2G3<A@exQgUc+S(Rv^@7XZc"
    "zYb7<xPF;<IhVPl)>v82N%;L^c=q>!7Uv=56SnYSouGn}2`Ff@Q>gPYBsYx5CrjQO5Qwt8#rYEkywTu~)|nInH{{i7w>vE+zZ}%Nc(^VIwz-"
    "V+maR^Uw$Aom()y<M$q^pV$xBYQXBT5Dj<y<Ws0A50lzBGPXFewc74lN?cj;|1{H*S~%-"
    "GN_3a9h+Cj%%Bvw2Yzk^Yyr!e}AJ;4&?HaUD8J5%pP=u%Lym-?a&$7?`lz`jacBHzKw~I6mm1d=Pb2LlH5-1SN?dNjd)+UI_4IQWHM(vSEt8F-"
    "Kn_*k?)DF3P<I#DF4SVX*MCQQ&nc5@jAdc;5qQS`6O`(;X!^Vsn~JT}km)n~|pd(8QdjN6wlSWEbuQ<(s8GYYWOu|IURJn8sLpyD5=C|M~|+4D@6IR"
    "-2>eukKt4T%Vgfh1eNh7y6u`(gJ<>YE1l$rq*c5Kedr?f>**54;E}<H<(H|i?EQxFPg1WhOa<)))_|W3R9VI#EK(Xln6BQ>(>2Ys20%3cG$1dhK>OL"
    "VsWzo;-kB0NO8EIL?#kq?22oD$j>$sh8ayE=)_Jt{D9#ymIBq>dtx(GDdh32-|Zh+WpBl2)BTb!{D*~QcpC}_T8{oT;cr-"
    ">d(5qw(T92|T}*SLd9kX#@L*0UtfAUhca`W```fD^`&ujSm{+e|PlVnUUAh|8CPvAMF1~YlzwrC!|4Yj@`E0aly+vGhDd%(+#w<VRqc&Yav*__M^MX"
    "4T7^=^<ERY_&1WoyshkwqgIV`X_X3PDUss6;*$@py9r3#UD!~dl@p16v>D~qAW#C?Wbe)$}GcgQyxfz&Hu2YX&{-"
    "bzdMGr?uSt^D0Qt<6Z?9CF;k_nC<gO2Ffj<6I-"
    "B&dGxdN>0s+@B}QCuPZ!5%VE?Qo`+h=@zCn{8d6rtW)6^jmC6qBl36({?}|hrvId3U<HH{=1*}+_9bric{@A3y*k>`y(kxzsJY@18PCc{vs2Lgsh1e"
    "xW{$(s<K}@gI0Jk;$y22UHIJ4O@mh!r(HR?V2B1mu79&XBkQ-!SkV$`tMvC$t6C%cTQn<xpnLMK3|j6hnx4l&-RokBYVj>Mcxto9(AW-"
    "`~QW8a0BwP!l1m5DO`V)y_%wak8+5k*rAn_JN+y^o>>#R@C(VWmZRI+j8|ljy*|7rrA5<P@f~6Fyt=a=-"
    ")N;L$t)B`{7dL(t82yI`GKyUGHf6@pgQ{sR*WC)5ifE6@l=pFMJue1!+nSU8lz=t`5$ikePl7|BMI*#c`(8@2i$0v1z%<;w=-7-"
    "NFw^7O2HS3ZLGIf$UlY_lI|7Rk=*9$qP0$&+$VC^8Q+#SdL?$eAby2U`n3sCeE?mZjkn@a#f~NUHOHZU%8M+4OMJZ((jRs8N&A(%Uec^zXBo`D8}I+"
    "Peo0ezTJUhMAAVtRCoTORF?ZbM^hke7<YjE|EmX=RnCL%ykOHgUWA8Y##=^kQH`SSduc674m9lErx4Ui1gZNA`Zd;Z`${r$$n}Vr=dTNQ89W!vdq<C"
    "CN^1;@w+8rXvb`KdIOO0#@tnaP?P8OVoQlLq+7{W=89PiO)l;@DRFC#El>f$g%-"
    "hgq?VH8f`sf+n1BH`$zTxyE(xuID!k(JUKzoXFBXA2x4zYs3mi+ZX7tAU3?bWVS=Fwgj3I+$dZGUlVvCnRR(UPm5=FNE8EAnCIkQ+hlo4H+TQNNiAN"
    "TFHwl2n5)|4nMX1R0f(0Q!_V(rKJI=1;ZxrrIz39X{7W}Zi1xZ#cI`+Qa<O~6^<#Zf9+LYO4JXD8>1pLl=Ag4?_6;zO**CR5lGBQ_Z4%}CQj`p>>B*"
    "ZaW+guK{-2%($2_j~qjoPAfM(UA9zR!Cgl6BRcL&j0(muMz"
)


def rank_file(folder: Path, rank: int) -> Path:
    """The place of the file of a rank."""
    return folder / f"{STEM}-{rank:04}.bin"


def write_dumpi(folder: Path) -> Path:
    """The files of all ranks and the one about them, which is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    data = lzma.decompress(base64.b85decode(_FILES))
    for rank, size in enumerate(_SIZES):
        rank_file(folder, rank).write_bytes(data[:size])
        data = data[size:]
    lines = ("hostname=vm", f"numprocs={RANKS}", "username=<none>", "startime=1795932473", f"fileprefix={STEM}")
    meta = folder / f"{STEM}.meta"
    meta.write_text("\n".join((*lines, "version=13", "subversion=0", "subsubversion=0", "")))
    return meta
